package persistence

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc64"
	"math"
	"testing"
)

// payload ends body as a payload of DUMP of an RDB version.
func payload(body []byte, version uint16) string {
	b := binary.LittleEndian.AppendUint16(bytes.Clone(body), version)
	sum := ^crc64.Update(^uint64(0), crc64.MakeTable(0x95ac9329ac4bc9b5), b)
	return string(binary.LittleEndian.AppendUint64(b, sum))
}

// ziplist builds the form of small values before Redis 7. A number in elems is an integer
// in the encoding that the test chooses by its size, as Redis does.
func ziplist(elems ...any) []byte {
	b := make([]byte, 10)
	before, last := 0, 10
	for _, elem := range elems {
		last = len(b)
		if before < 254 {
			b = append(b, byte(before))
		} else {
			b = binary.LittleEndian.AppendUint32(append(b, 254), uint32(before))
		}
		switch elem := elem.(type) {
		case int:
			b = append(b, ziplistInteger(int64(elem))...)
		case int64:
			b = append(b, ziplistInteger(elem)...)
		case string:
			switch n := len(elem); {
			case n < 1<<6:
				b = append(b, byte(n))
			case n < 1<<14:
				b = append(b, 0x40|byte(n>>8), byte(n))
			default:
				b = binary.BigEndian.AppendUint32(append(b, 0x80), uint32(n))
			}
			b = append(b, elem...)
		}
		before = len(b) - last
	}
	b = append(b, 255)
	binary.LittleEndian.PutUint32(b, uint32(len(b)))
	binary.LittleEndian.PutUint32(b[4:], uint32(last))
	binary.LittleEndian.PutUint16(b[8:], uint16(len(elems)))
	return b
}

func ziplistInteger(n int64) []byte {
	switch {
	case n >= 0 && n <= 12:
		return []byte{0xf1 + byte(n)}
	case n >= -1<<7 && n < 1<<7:
		return []byte{0xfe, byte(n)}
	case n >= -1<<15 && n < 1<<15:
		return binary.LittleEndian.AppendUint16([]byte{0xc0}, uint16(n))
	case n >= -1<<23 && n < 1<<23:
		return []byte{0xf0, byte(n), byte(n >> 8), byte(n >> 16)}
	case n >= -1<<31 && n < 1<<31:
		return binary.LittleEndian.AppendUint32([]byte{0xd0}, uint32(n))
	}
	return binary.LittleEndian.AppendUint64([]byte{0xe0}, uint64(n))
}

// blob is a string of less than 4 GB in a payload, not compressed.
func blob(b []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{0x80}, uint32(len(b))), b...)
}

// TestFormsOfOlderVersionsAreRead compares with redis-server 7.0, which reads them too.
func TestFormsOfOlderVersionsAreRead(t *testing.T) {
	redis, lock := startOracle(t), startLockredis(t, nil)
	numbers := []any{0, 12, 13, -1, 127, -128, 128, -32768, 32767, 32768, -8388608, 8388607, 8388608,
		-2147483648, 2147483647, int64(2147483648), int64(math.MinInt64), int64(math.MaxInt64)}
	long := []any{"a", string(bytes.Repeat([]byte("x"), 300)), "b", string(bytes.Repeat([]byte("y"), 20000)), "c", 5}
	var fields, scores []any
	for i := range 300 {
		n := int64(i)
		fields = append(fields, fmt.Sprint("f", i), n*n*n*n)
		scores = append(scores, fmt.Sprint("m", i), i)
	}
	forms := map[string][]byte{
		"list":                       append([]byte{1, 3}, "\x01a\xc0\x07\x02bc"...),
		"set":                        append([]byte{2, 3}, "\x01a\xc0\x07\x02bc"...),
		"sorted set with texts":      append([]byte{3, 3}, "\x01a\x031.5\x01b\xfe\x01c\xff"...),
		"hash":                       append([]byte{4, 2}, "\x01a\xc0\x07\x01b\x01c"...),
		"ziplist of numbers":         append([]byte{10}, blob(ziplist(numbers...))...),
		"ziplist of long texts":      append([]byte{10}, blob(ziplist(long...))...),
		"quicklist of ziplists":      append(append([]byte{14, 2}, blob(ziplist(long...))...), blob(ziplist(numbers...))...),
		"quicklist with empty nodes": append(append([]byte{14, 2}, blob(ziplist())...), blob(ziplist(numbers...))...),
		"hash in a ziplist":          append([]byte{13}, blob(ziplist(numbers...))...),
		"large hash in a ziplist":    append([]byte{13}, blob(ziplist(fields...))...),
		"long hash in a ziplist":     append([]byte{13}, blob(ziplist(long...))...),
		"sorted set in a ziplist":    append([]byte{12}, blob(ziplist("a", 1, "b", "2.5", 3, "inf"))...),
		"large set in a ziplist":     append([]byte{12}, blob(ziplist(scores...))...),
		"list with a plain node":     append([]byte{18, 1, 1}, blob([]byte("plain"))...),
	}
	for what, body := range forms {
		for _, version := range []uint16{8, 9, 10} {
			want, got := "", ""
			for _, c := range []*client{redis, lock} {
				c.do("RESTORE", "k", "0", payload(body, version), "REPLACE")
				got = c.ask("DEBUG", "DIGEST-VALUE", "k").String() + " " + c.do("OBJECT", "ENCODING", "k")
				if c == redis {
					want = got
				}
			}
			if got != want {
				t.Errorf("%s, version %d: lockredis has %s, redis-server %s", what, version, got, want)
			}
		}
	}
}

// TestUnusualPayloadsAreAcceptedAsInRedis has payloads that no server writes today, and that
// redis-server accepts even with its deepest checks.
func TestUnusualPayloadsAreAcceptedAsInRedis(t *testing.T) {
	redis := startOracle(t, "--sanitize-dump-payload", "yes")
	lock := startLockredis(t, nil)
	listpack := func(elems ...string) []byte {
		b := make([]byte, 6)
		for _, elem := range elems {
			b = append(append(append(b, 0x80|byte(len(elem))), elem...), byte(len(elem)+1))
		}
		b = append(b, 255)
		binary.LittleEndian.PutUint32(b, uint32(len(b)))
		binary.LittleEndian.PutUint16(b[4:], uint16(len(elems)))
		return blob(b)
	}
	numbers := func(elems ...byte) []byte {
		b := make([]byte, 6)
		for _, elem := range elems {
			b = append(b, elem, 1)
		}
		b = append(b, 255)
		binary.LittleEndian.PutUint32(b, uint32(len(b)))
		return blob(b) // with 0 as the number of elements
	}
	// A stream of the entries 1-0 to 3-0, each with the field 5 and the value 6.
	stream := func(live, dead, flags2, id2, length, last, first byte) []byte {
		b := append([]byte{19, 1, 16}, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0)
		b = append(b, numbers(live, dead, 1, 5, 0, 2, 0, 0, 6, 4, flags2, id2, 0, 6, 4, 2, 2, 0, 6, 4)...)
		return append(b, length, last, 0, first, 0, 0, 0, 3, 0)
	}
	forms := map[string][]byte{
		"zipmap":                     append([]byte{9}, blob([]byte("\x02\x01a\x01\x00b\x02cd\x01\x01e.\xff"))...),
		"length that is an encoding": []byte("\x01\xc2\x01a\x01b"),
		"ziplist with another head":  append([]byte{10}, blob([]byte("\x12\x00\x00\x00\x0a\x00\x00\x00\x01\x00\x00\x85\x00\x00\x00\x01a\xff"))...),
		"minus zero in a ziplist":    append([]byte{10}, blob(ziplist("-0", "a"))...),
		"minus zero as a field":      append([]byte{13}, blob(ziplist("-0", "-0"))...),
		"minus zero as a score":      append([]byte{12}, blob(ziplist("a", "-0"))...),
		"score of an old set":        []byte("\x03\x01\x01a\x062.5abc"),
		"large score of an old set":  []byte("\x03\x01\x01a\x051e400"),
		"minus zero of an old set":   []byte("\x03\x01\x01a\x02-0"),
		"stream":                     stream(3, 0, 2, 1, 3, 3, 1),
		"stream, length":             stream(3, 0, 2, 1, 5, 3, 1),
		"stream, short length":       stream(3, 0, 2, 1, 0, 3, 1),
		"stream, last":               stream(3, 0, 2, 1, 3, 2, 1),
		"stream, first":              stream(3, 0, 2, 1, 3, 3, 2),
		"stream, counts":             stream(2, 1, 2, 1, 3, 3, 1),
		"stream, order":              stream(3, 0, 2, 9, 3, 3, 1),
		"stream, flags":              stream(3, 0, 2|16, 1, 3, 3, 1),
		"stream, deleted":            stream(2, 1, 3, 1, 2, 3, 1),
	}
	for _, score := range []string{"2.5abc", " 2.5", "", "abc", "0x10", "inf", "1e400", "1e-400", "-0", "1_0", ".5", "infinityx", "--1"} {
		forms["packed score "+score] = append([]byte{17}, listpack("a", score)...)
	}
	after := [][]string{{"DEBUG", "DIGEST-VALUE", "k"}, {"OBJECT", "ENCODING", "k"}}
	streams := [][]string{
		{"XLEN", "k"}, {"XRANGE", "k", "-", "+"}, {"XREVRANGE", "k", "+", "-", "COUNT", "2"}, {"XINFO", "STREAM", "k"},
		{"XADD", "k", "3-1", "f", "v"}, {"XRANGE", "k", "3", "+"}, {"XDEL", "k", "1-0", "2-0"}, {"XLEN", "k"},
		{"XADD", "k", "9-0", "5", "6"}, {"XTRIM", "k", "MAXLEN", "2"}, {"XLEN", "k"}, {"XRANGE", "k", "-", "+"},
	}
	for what, body := range forms {
		cmds := after
		if body[0] == 19 {
			cmds = append(append([][]string{}, after...), streams...)
		}
		var replies [2][]string
		for i, c := range []*client{redis, lock} {
			if reply := c.ask("RESTORE", "k", "0", payload(body, 10), "REPLACE"); reply.IsError() {
				t.Errorf("%s: %s: %s", c.name, what, reply)
				continue
			}
			for _, cmd := range cmds {
				replies[i] = append(replies[i], fmt.Sprintf("%q: %q", cmd, c.ask(cmd...).String()))
			}
		}
		for i, want := range replies[0][:min(len(replies[0]), len(replies[1]))] {
			if got := replies[1][i]; got != want {
				t.Errorf("%s: lockredis %s\nredis-server %s", what, got, want)
			}
		}
	}
}
