package differential

import (
	"strconv"
	"strings"
)

// placeSeconds and placeMillis stand for times to live. A finished sequence gets a
// different time at each place: with two equal times, the outcome of GT or LT would
// depend on the millisecond.
const (
	placeSeconds = "\x00seconds"
	placeMillis  = "\x00millis"
)

var (
	typeLetters = []string{"s", "h", "l", "t", "z", "x"}
	// typeNames are the types' groups of commands, in the same order.
	typeNames = []string{"string", "hash", "list", "set", "zset", "stream"}
	oddKeys   = []string{"missing", "", "k\x00\xff", "s*", "key with spaces"}

	smallMembers = []string{"a", "b", "c", "d", "e", "f", "g", "h", "0", "1", "2", "3", "5", "10",
		"-7", "100", "aa", "ab", "B", "f1"}
	values = []string{"", "a", "b", "foo", "bar", "hello world", "0", "1", "2", "3", "10", "-1",
		"3.14", "ohmytext", "mynewtext",
		"\x00\xff\r\n", "9999", "10000", "-0", "1e5", "05", " 1", "1.0"}
	longValues = []string{
		strings.Repeat("x", 16), strings.Repeat("x", 17), strings.Repeat("y", 43),
		strings.Repeat("y", 44), strings.Repeat("y", 45),
		strings.Repeat("z", 63), strings.Repeat("z", 64), strings.Repeat("z", 65),
		strings.Repeat("q", 300),
		"9223372036854775807", "-9223372036854775808", "9223372036854775808", "2147483648",
		"12345678901234567890",
	}
	numberLike = []string{"+5", "0x10", "inf", "-inf", "nan", "1e400", "1 ", "1e-7",
		"1.7976931348623157e308", "00", "-", "+", "1_0",
		"0.1", "1.5e3", "3.0", "99999999999999999999"}

	smallInts    = []string{"1", "0", "2", "3", "5", "10", "-1", "-2", "-5", "100", "7", "1000"}
	smallIndexes = []string{"0", "-1", "1", "2", "3", "-2", "-3", "5", "10", "-10", "100", "-100"}
	smallCounts  = []string{"1", "0", "2", "3", "4", "10", "-1", "-2", "-3", "-10", "100"}
	edgeInts     = []string{"9223372036854775807", "-9223372036854775808", "-9223372036854775807",
		"2147483647", "2147483648", "-2147483649",
		"4294967296", "4611686018427387904", "9223372036854775806"}
	wrongInts = []string{"abc", "", "1.5", " 1", "1 ", "+1", "01", "0x1", "9223372036854775808",
		"-9223372036854775809", "-0", "1e3", "inf"}
	wrongCounts = []string{"0", "-1", "abc", "100", "", "1.5", "9223372036854775807"}

	smallFloats = []string{"1", "0", "2", "-1", "1.5", "3", "3.14", "0.1", "0.2", "-2.5", "10", "100",
		"1e3", "5.0", "-0.5", "1000000000"}
	edgeFloats = []string{"1000000000", "1e9", "1e20", "1e17", "123456789012345678", "1e21", "1e-7",
		"0.000001", "5e-324", "2.2250738585072014e-308",
		"1.7976931348623157e308", "-1.7976931348623157e308", "inf", "-inf", "+inf", "-0",
		"0.30000000000000004", "9007199254740993", "17179869184",
		"3.0000000000000001", "123456.789e3", "1e16", "99999999999999990", "0.1e-10", "infinity",
		"4503599627370496.5"}
	wrongFloats = []string{"nan", "abc", "", "1e400", " 1", "1 ", "0x1p3", "0x10", "1,5", "--1",
		"-nan", "1e", ".", ".5", "5.", "+1.5", "1e-400"}

	scoreBounds = []string{"-inf", "+inf", "0", "1", "(1", "2", "(2", "3", "1.5", "(0", "-1", "(3.14",
		"10", "100", "inf", "(inf", "(-inf"}
	// A range from the first to the second is hardly ever empty.
	lowBounds   = []string{"-inf", "(0", "(1", "0", "(-1", "(-2.5", "-1", "(0.1", "(1.5", "(2"}
	highBounds  = []string{"+inf", "10", "(100", "3", "inf", "(5", "100", "(1000"}
	wrongBounds = []string{"(", "((1", "abc", "", "nan", "(nan", "[1", "-", "+", " 1", "1e400"}
	lexBounds   = []string{"-", "+", "[a", "(a", "[c", "(d", "[", "(", "[1", "[aa", "(zz", "[\xff"}
	wrongLex    = []string{"a", "", "1", "-a", "+a", "*", "{a"}

	globs = []string{"*", "s*", "h?", "[a-f]*", "[^a]*", "a*", "*1", "\\*", "s\\*", "z[0-2]",
		"nothing", "", "[", "[a", "\\", "h[0-", "*a*b*",
		"?", "**", "[z-a]*", "[^]", "t[3-1]", "[\\]]", "f1"}

	wrongTTLs = []string{"abc", "", "1.5", "9223372036854775807", "-9223372036854775808",
		"9223372036854775", "99999999999999999999", "9223370000000000"}
	shortTimeouts = []string{"0.001", "0.002", "0.01", "1e-3"}
	wrongTimeouts = []string{"-1", "abc", "", "nan", "-0.5", "1e400", "9223372036854775807"}

	channels = []string{"news", "chat", "shard", "nobody", "news.it", ""}
)

func decimal(n int) string { return strconv.Itoa(n) }
