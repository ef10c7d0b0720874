package fuzz

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// FuzzHyperLogLogBytesAreReadAsInRedis stores any bytes behind the header of a HyperLogLog and
// runs every command on them.
func FuzzHyperLogLogBytesAreReadAsInRedis(f *testing.F) {
	for _, body := range []string{"", "\x7f\xff", "\x7f\xfe\x80", "\x7f\xfe", "\x7f\xff\x80", "\x7f\xff\x00",
		"\x3f\x80\x84\x88\x41\x00\x7e\xbb", "\x7f\xfd\x40\x00\x80", "\x00\x01\x02", "\xff\xff\x83\x7f\xff",
		strings.Repeat("\x3f", 256), strings.Repeat("\x83", 4096), strings.Repeat("\x7f\xff", 10),
		strings.Repeat("\x00", 12288), strings.Repeat("\xff", 12288), strings.Repeat("\x03\x82", 2000),
	} {
		f.Add([]byte(body), true, "a")
		f.Add([]byte(body), false, "element")
	}
	o := newOracle(f)
	var w *world
	f.Fuzz(func(t *testing.T, body []byte, sparse bool, element string) {
		if len(body) > 13000 || len(element) > 100 || sparse && endsInHalfARun(body) {
			return
		}
		defer watch(string(body))()
		if w == nil || w.over {
			w = newWorld(t)
		}
		w.t = t
		value := "HYLL\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80" + string(body)
		if sparse {
			value = strings.Replace(value, "\x00", "\x01", 1)
		}
		o.same(t, w, asItIs, "DEL", "d", "e")
		for _, args := range [][]string{
			{"SET", "h", value}, {"SET", "i", value}, {"SET", "j", value},
			{"PFCOUNT", "h"}, {"GET", "h"}, {"PFCOUNT", "h", "i"}, {"PFMERGE", "d", "h"}, {"GET", "d"},
			{"PFADD", "e", element}, {"PFMERGE", "e", "h"}, {"GET", "e"}, {"PFMERGE", "h", "e"}, {"GET", "h"},
			{"PFADD", "i", element}, {"GET", "i"}, {"PFADD", "i", "x" + element, "y" + element, element + "z"},
			{"GET", "i"}, {"PFCOUNT", "i"},
			{"PFDEBUG", "DECODE", "j"}, {"PFDEBUG", "TODENSE", "j"}, {"GET", "j"}, {"PFDEBUG", "GETREG", "j"},
		} {
			o.same(t, w, asItIs, args...)
		}
	})
}

// endsInHalfARun reports whether the last run lacks its second byte. redis-server then reads
// and writes the byte behind the string.
func endsInHalfARun(runs []byte) bool {
	at := 0
	for at < len(runs) {
		if runs[at]&0xc0 == 0x40 {
			at++
		}
		at++
	}
	return at > len(runs)
}

func TestHyperLogLogsHaveTheBytesThatRedisMakes(t *testing.T) {
	o := newOracle(t)
	w := newWorld(t)
	for _, limit := range []string{"3000", "0", "100", "1000", "12000", "20000"} {
		o.same(t, w, asItIs, "CONFIG", "SET", "hll-sparse-max-bytes", limit)
		o.same(t, w, asItIs, "FLUSHALL")
		for batch := range 60 {
			key := "h" + strconv.Itoa(batch%4)
			args := []string{"PFADD", key}
			for i := range batch * batch / 2 {
				args = append(args, fmt.Sprintf("%s:%d:%d", limit, batch, i))
			}
			o.same(t, w, asItIs, args...)
			o.same(t, w, asItIs, "GET", key)
			o.same(t, w, asItIs, "PFCOUNT", key)
			if batch%10 == 9 {
				o.same(t, w, asItIs, "PFCOUNT", "h0", "h1", "h2", "h3", "none")
				o.same(t, w, asItIs, "PFMERGE", "m"+strconv.Itoa(batch/20), "h1", "h2")
				o.same(t, w, asItIs, "GET", "m"+strconv.Itoa(batch/20))
				o.same(t, w, asItIs, "PFCOUNT", "m"+strconv.Itoa(batch/20))
			}
		}
	}
}

func TestHyperLogLogsGoToRedisAndBack(t *testing.T) {
	o := newOracle(t)
	w := newWorld(t)
	for _, n := range []int{0, 1, 10, 500, 5000} {
		args := []string{"PFADD", "h"}
		for i := range n {
			args = append(args, strconv.Itoa(i))
		}
		w.execute(0, words(args...))
		ours := string(w.execute(0, words("GET", "h"))[0].Str)
		o.do(t, "SET", "h", ours)
		o.do(t, "PFADD", "h", "from redis")
		theirs := string(o.do(t, "GET", "h").Str)
		w.execute(0, words("SET", "h", theirs))
		w.execute(0, words("PFADD", "h", "from redis"))
		o.same(t, w, asItIs, "GET", "h")
		o.same(t, w, asItIs, "PFCOUNT", "h")
		o.same(t, w, asItIs, "DEL", "h")
	}
}
