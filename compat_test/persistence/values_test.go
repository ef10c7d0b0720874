package persistence

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
)

// value is the commands that make the value of a key, without the key: each begins with
// the command's name.
type value struct {
	what string
	cmds [][]string
	// ordered says that the value's form has an order of its own, so that payloads of
	// both servers are equal byte for byte.
	ordered bool
}

// line returns a command with the key.
func line(cmd []string, key string) []string {
	return append([]string{cmd[0], key}, cmd[1:]...)
}

// values returns values of all types and forms: fixed ones at the bounds of each form,
// and random ones.
func values(rnd *rand.Rand, random int) []value {
	var all []value
	add := func(what string, ordered bool, cmds ...[]string) {
		all = append(all, value{what, cmds, ordered})
	}
	for _, s := range []string{
		"", "0", "-0", "00", "127", "128", "-128", "-129", "32767", "32768", "-32769", "2147483647",
		"2147483648", "-2147483648", "-2147483649", "9223372036854775807", "18446744073709551616",
		"text", strings.Repeat("a", 20), strings.Repeat("a", 21), strings.Repeat("a", 63),
		strings.Repeat("ab", 32), strings.Repeat("xyz", 6000), strings.Repeat("a", 100000),
	} {
		add("string "+short(s), true, []string{"SET", s})
	}
	add("appended digits", true, []string{"APPEND", "12"}, []string{"APPEND", "34"})
	for _, n := range []int64{0, 127, 128, -1, 4095, 4096, -4096, -4097, 32767, -32769, 1<<23 - 1, 1 << 23,
		-1 << 23, -1<<23 - 1, 1<<31 - 1, 1 << 31, -1 << 31, math.MaxInt64, math.MinInt64} {
		digits := strconv.FormatInt(n, 10)
		add("list of "+digits, true, []string{"RPUSH", digits, "x" + digits})
		add("hash of "+digits, true, []string{"HSET", digits, digits, "f", "v"})
		add("set of "+digits, true, []string{"SADD", digits, "5", "-7"})
		add("sorted set of "+digits, true, []string{"ZADD", digits, digits})
	}
	for _, score := range []string{"0.1", "-0", "inf", "-inf", "1e300", "1e17", "123456789012345678", "3.0",
		"4503599627370497", "1e-300", "2.5", "4.6e18", "-4611686018427387904", "4611686018427387904",
		"4611686018427387392", "4611686018427388928", "-4611686018427388928", "5e18", "-9.3e18", "1e19"} {
		add("score "+score, true, []string{"ZADD", score, "m", "1", "n"})
	}
	for _, n := range []int{63, 64, 65, 4095, 4096, 8000, 8192, 9000, 70000} {
		add(fmt.Sprintf("list with an element of %d bytes", n), true, []string{"RPUSH", text(rnd, n), "b"})
		add(fmt.Sprintf("hash with a value of %d bytes", n), n <= 64, []string{"HSET", "f", text(rnd, n)})
		add(fmt.Sprintf("sorted set with a member of %d bytes", n), true, []string{"ZADD", "1", text(rnd, n)})
	}
	for _, n := range []int{1, 2, 127, 128, 129, 512, 513, 3000} {
		var list, hash, ints, words, zset []string
		for i := range n {
			list = append(list, fmt.Sprint(i*i))
			hash = append(hash, fmt.Sprint("f", i), fmt.Sprint(i*7919))
			ints = append(ints, fmt.Sprint(i*i*i))
			words = append(words, fmt.Sprint("m", i))
			zset = append(zset, fmt.Sprint(float64(i)/3), fmt.Sprint("m", i))
		}
		size := fmt.Sprintf(" of %d elements", n)
		add("list"+size, n <= 513, append([]string{"RPUSH"}, list...))
		add("hash"+size, n <= 512, append([]string{"HSET"}, hash...))
		add("integers"+size, n <= 512, append([]string{"SADD"}, ints...))
		add("words"+size, n == 1, append([]string{"SADD"}, words...))
		add("sorted set"+size, true, append([]string{"ZADD"}, zset...))
	}
	for i := range random {
		all = append(all, randomValue(rnd, i))
	}
	return all
}

// randomValue returns a value of random elements.
func randomValue(rnd *rand.Rand, i int) value {
	v := value{what: fmt.Sprintf("random value %d", i)}
	n := 1 + rnd.IntN(20)
	if rnd.IntN(10) == 0 {
		n = 1 + rnd.IntN(700)
	}
	switch rnd.IntN(5) {
	case 0:
		v.cmds, v.ordered = [][]string{{"SET", element(rnd)}}, true
	case 1:
		for range n {
			v.cmds = append(v.cmds, []string{[]string{"RPUSH", "LPUSH"}[rnd.IntN(2)], element(rnd)})
		}
	case 2:
		for range n {
			v.cmds = append(v.cmds, []string{"SADD", element(rnd)})
		}
	case 3:
		for range n {
			v.cmds = append(v.cmds, []string{"HSET", element(rnd), element(rnd)})
		}
	default:
		v.ordered = true
		for range n {
			score := strconv.FormatFloat(rnd.NormFloat64()*math.Pow(10, float64(rnd.IntN(20))), 'g', -1, 64)
			v.cmds = append(v.cmds, []string{"ZADD", score, element(rnd)})
		}
	}
	return v
}

// element returns a random element: an integer, a short text, sometimes a long one.
func element(rnd *rand.Rand) string {
	switch rnd.IntN(6) {
	case 0, 1:
		return strconv.FormatInt(rnd.Int64()>>rnd.IntN(64), 10)
	case 2:
		return strconv.FormatInt(-rnd.Int64()>>rnd.IntN(64), 10)
	case 3:
		return text(rnd, rnd.IntN(300))
	}
	return text(rnd, rnd.IntN(20))
}

// text returns n bytes with some repetition, so that LZF finds something to do.
func text(rnd *rand.Rand, n int) string {
	letters := 1 + rnd.IntN(30)
	b := make([]byte, 0, n)
	for len(b) < n {
		if len(b) > 8 && rnd.IntN(4) == 0 {
			from := rnd.IntN(len(b) - 4)
			b = append(b, b[from:min(from+3+rnd.IntN(40), len(b))]...)
			continue
		}
		b = append(b, byte('a'+rnd.IntN(letters)))
	}
	return string(b[:n])
}

// short returns a description of a long text.
func short(s string) string {
	if len(s) > 24 {
		return fmt.Sprintf("%.10q… of %d bytes", s, len(s))
	}
	return strconv.Quote(s)
}
