package differential

import (
	"encoding/binary"
	"hash/crc64"

	"github.com/lockredis/lockredis/compat_test/wire"
)

// payload ends a value as DUMP does, for an RDB version.
func payload(body string, version uint16) string {
	b := binary.LittleEndian.AppendUint16([]byte(body), version)
	sum := ^crc64.Update(^uint64(0), crc64.MakeTable(0x95ac9329ac4bc9b5), b)
	return string(binary.LittleEndian.AppendUint64(b, sum))
}

// payloads are arguments of RESTORE: values in all forms, rare ones, and texts that are no payload.
// redis-server is asked only what does not depend on the bytes behind the value.
func payloads() (common, edge, wrong []string) {
	for _, body := range []string{
		"\x00\x05hello", "\x00\xc0\x07", "\x00\x00",
		"\x02\x03\x01a\x01b\xc0\x05",
		"\x0b\x0e\x02\x00\x00\x00\x03\x00\x00\x00\x01\x00\x02\x00\x03\x00",
		"\x10\x14\x14\x00\x00\x00\x04\x00\x81f\x02\x81v\x02\x81g\x02\x83\x31\x2e5\x04\xff",
		"\x11\x11\x11\x00\x00\x00\x04\x00\x81a\x02\x01\x01\x81b\x02\x02\x01\xff",
		"\x12\x01\x02\x0f\x0f\x00\x00\x00\x03\x00\x82ab\x03\x05\x01\x07\x01\xff",
	} {
		common = append(common, payload(body, 10))
	}
	for _, body := range []string{
		"\x01\x02\x01a\x01b", "\x03\x02\x01a\x031.5\x01b\xfe", "\x04\x02\x01f\x01v\x01g\xc0\x02",
		"\x05\x01\x01a\x00\x00\x00\x00\x00\x00\xf0\x3f", "\x12\x01\x01\x05plain",
		"\x0a\x0f\x0f\x00\x00\x00\x0a\x00\x00\x00\x01\x00\x00\x02ab\xff",
	} {
		edge = append(edge, payload(body, 8), payload(body, 9))
	}
	for _, body := range []string{"", "\x63", "\x01\x00", "\x02\x02\x01a\x01a", "\x12\x00", "\xff",
		"\x10\x07\x07\x00\x00\x00\x00\x00\xff"} {
		wrong = append(wrong, payload(body, 10))
	}
	wrong = append(wrong, "", "x", payload("\x00\x05hello", 11), payload("\x00\x05hello", 10)+"x")
	return common, edge, wrong
}

// sameDump accepts different payloads of values whose form has no order of its own: hash
// tables, and sets of integers whose width tells their history. That both servers restore
// them is compat_test/persistence's. In a stream with pending entries the times of delivery may
// differ.
func sameDump(c comparison) bool {
	const set, hash, ints, stream = 2, 4, 11, 19
	a, b := c.oracle, c.target
	if a.Kind != wire.BulkString || b.Kind != a.Kind || len(a.Str) == 0 || len(b.Str) == 0 {
		return false
	}
	switch a.Str[0] {
	case set, hash, ints:
		return a.Str[0] == b.Str[0]
	case stream:
		return sameButTimes(a.Str, b.Str)
	}
	return false
}

// sameButTimes reports whether two payloads differ only where times in milliseconds would: in at
// most three bytes in a row, the low ones, and in the checksum of eight bytes at the end.
func sameButTimes(a, b []byte) bool {
	if len(a) != len(b) || len(a) < 8 {
		return false
	}
	run := 0
	for i := range a[:len(a)-8] {
		if run++; a[i] == b[i] {
			run = 0
		}
		if run > 3 {
			return false
		}
	}
	return true
}
