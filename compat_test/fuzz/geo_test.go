package fuzz

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/lockredis/lockredis/compat_test/wire"
)

// The order of an unsorted result and its end after COUNT ANY depend on the cells that a
// search reads. The distances have all their digits with STOREDIST.
func TestGeoSearchesFindWhatRedisFinds(t *testing.T) {
	o := newOracle(t)
	w := newWorld(t)
	rnd := rand.New(rand.NewPCG(1, 2))
	number := func(limit float64) string {
		return strconv.FormatFloat((2*rnd.Float64()-1)*limit, 'f', -1, 64)
	}
	for _, width := range []float64{180, 10, 0.1} {
		key := fmt.Sprint("g", width)
		for range 30 {
			args := []string{"GEOADD", key}
			for range 20 {
				args = append(args, number(width), number(min(width, 85)), "m"+strconv.Itoa(rnd.IntN(5000)))
			}
			o.same(t, w, asItIs, args...)
		}
		for n := range 500 {
			args := []string{"GEOSEARCH", key, "FROMLONLAT", number(width), number(min(width, 85))}
			size := width * 2e5 * rnd.Float64() * rnd.Float64()
			if n%2 == 0 {
				args = append(args, "BYRADIUS", fmt.Sprint(size), "m")
			} else {
				args = append(args, "BYBOX", fmt.Sprint(size), fmt.Sprint(size*rnd.Float64()*3), "m")
			}
			switch n % 9 {
			case 0, 1:
				args = append(args, "WITHDIST", "WITHHASH", "WITHCOORD")
			case 2:
				args = append(args, "COUNT", strconv.Itoa(1+rnd.IntN(20)), "ANY")
			case 3:
				args = append(args, "COUNT", strconv.Itoa(1+rnd.IntN(20)))
			case 4:
				args = append(args, "DESC", "WITHDIST")
			}
			sameUpToADigit(t, o, w, args...)
			if n%9 == 5 {
				args = append([]string{"GEOSEARCHSTORE", "d"}, append(args[1:], "STOREDIST")...)
				o.same(t, w, asItIs, args...)
				sameUpToADigit(t, o, w, "ZRANGE", "d", "0", "-1", "WITHSCORES")
			}
		}
	}
	t.Logf("%d of %d distances differ in the last digits", o.digits.different, o.digits.all)
}

// digits counts the numbers that sameUpToADigit has compared.
type digits struct{ all, different int }

// sameUpToADigit runs a command on both servers and compares the replies. Numbers with a
// fraction may differ in the last digits, because a sine depends on the C library.
func sameUpToADigit(t *testing.T, o *oracle, w *world, args ...string) {
	t.Helper()
	want := o.do(t, args...)
	got := w.execute(0, words(args...))
	if len(got) != 1 || !near(o, want, got[0]) {
		t.Fatalf("%q\nredis-server %.1000s\nlockredis    %.1000s", args, want, got)
	}
}

func near(o *oracle, a, b wire.Value) bool {
	if a.Kind != b.Kind || len(a.Elems) != len(b.Elems) {
		return false
	}
	for i := range a.Elems {
		if !near(o, a.Elems[i], b.Elems[i]) {
			return false
		}
	}
	x, err := strconv.ParseFloat(string(a.Str), 64)
	if err != nil || !bytes.Contains(a.Str, []byte(".")) {
		return bytes.Equal(a.Str, b.Str) && (len(a.Elems) > 0 || bytes.Equal(a.Raw, b.Raw))
	}
	o.digits.all++
	if !bytes.Equal(a.Str, b.Str) {
		o.digits.different++
	}
	y, err := strconv.ParseFloat(string(b.Str), 64)
	return err == nil && math.Abs(x-y) <= max(0.00011, x*1e-14)
}
