package rdb

import (
	"encoding/binary"
	"errors"

	"github.com/lockredis/lockredis/store"
)

// dumpFoot is the size of a payload's end: the RDB version in 2 bytes and the checksum
// in 8, each with the lowest byte first.
const dumpFoot = 10

// ErrChecksum is the error for a payload of a newer version, or with a wrong checksum.
var ErrChecksum = errors.New("wrong version or checksum")

// Dump returns the payload of DUMP for v.
func (e *Encoder) Dump(v store.Value) []byte {
	return withFoot(e.AppendValue(nil, v))
}

// withFoot appends the end of a payload.
func withFoot(b []byte) []byte {
	b = binary.LittleEndian.AppendUint16(b, Version)
	return binary.LittleEndian.AppendUint64(b, checksum(0, b))
}

// Verify returns ErrChecksum unless the payload's version and checksum are right.
func Verify(payload []byte) error {
	body := len(payload) - dumpFoot
	if body < 0 || binary.LittleEndian.Uint16(payload[body:]) > Version {
		return ErrChecksum
	}
	if sum := binary.LittleEndian.Uint64(payload[body+2:]); sum != checksum(0, payload[:body+2]) {
		return ErrChecksum
	}
	return nil
}

// Restore returns the value of a payload that Verify has accepted. lim decides about its
// encoding.
func Restore(payload []byte, lim *store.Limits) (store.Value, error) {
	return Decode(payload[:len(payload)-dumpFoot], lim)
}
