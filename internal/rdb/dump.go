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
	return e.withFoot(e.AppendValue(nil, v))
}

// withFoot appends the end of a payload.
func (e *Encoder) withFoot(b []byte) []byte {
	b = binary.LittleEndian.AppendUint16(b, uint16(newest(e.Valkey)))
	return binary.LittleEndian.AppendUint64(b, checksum(0, b))
}

// newest returns the version that is written, and the newest one that is read.
func newest(valkey bool) int {
	if valkey {
		return valkeyVersion
	}
	return Version
}

// Accepts says which payloads Verify accepts besides Redis's payloads with a right checksum.
type Accepts struct {
	AnySum bool // the checksum does not count
	Valkey bool // payloads of Valkey 9
}

// Verify returns ErrChecksum unless the payload's version and checksum are right.
func Verify(payload []byte, a Accepts) error {
	body := len(payload) - dumpFoot
	if body < 0 || int(binary.LittleEndian.Uint16(payload[body:])) > newest(a.Valkey) {
		return ErrChecksum
	}
	if a.AnySum {
		return nil
	}
	if sum := binary.LittleEndian.Uint64(payload[body+2:]); sum != checksum(0, payload[:body+2]) {
		return ErrChecksum
	}
	return nil
}

// Restore returns the value of a payload that Verify has accepted. lim decides about its
// encoding.
func Restore(payload []byte, a Accepts, lim *store.Limits) (store.Value, error) {
	body := payload[:len(payload)-dumpFoot]
	if len(body) > 0 && !known(body[0], a.Valkey) {
		return nil, corrupt("type %d", body[0])
	}
	return Decode(body, lim)
}
