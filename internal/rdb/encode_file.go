package rdb

import (
	"encoding/binary"
	"fmt"
	"strconv"

	"github.com/lockredis/lockredis/store"
)

// The bytes that begin a record of a file. A smaller byte is the type of a value: it
// begins a key.
const (
	recordSlot        = 244 // of a cluster of Valkey: the slot, its keys and its keys with a deadline
	recordFunction    = 245
	recordOldFunction = 246 // of a release candidate of Redis 7
	recordModule      = 247
	recordIdle        = 248 // seconds since the last access to the next key
	recordFrequency   = 249 // of accesses to the next key
	recordFact        = 250 // a name and a value about the file
	recordSize        = 251 // of the database
	recordDeadline    = 252 // of the next key, in ms
	recordSeconds     = 253 // deadline of the next key, in s
	recordDatabase    = 254
	recordEnd         = 255
)

// A file begins with one of these and its version.
const (
	redisSignature  = "REDIS"
	valkeySignature = "VALKEY"
)

// Facts are what a file says about itself.
type Facts struct {
	Server string // redis-ver or valkey-ver
	Unix   int64  // ctime, seconds
	Memory int64  // used-mem, bytes
}

// AppendHead appends the beginning of a file.
func (e *Encoder) AppendHead(dst []byte, f Facts) []byte {
	version := "redis-ver"
	if e.Valkey {
		dst, version = fmt.Appendf(dst, "%s%03d", valkeySignature, valkeyVersion), "valkey-ver"
	} else {
		dst = fmt.Appendf(dst, "%s%04d", redisSignature, Version)
	}
	for _, fact := range [][2]string{
		{version, f.Server},
		{"redis-bits", strconv.Itoa(strconv.IntSize)},
		{"ctime", strconv.FormatInt(f.Unix, 10)},
		{"used-mem", strconv.FormatInt(f.Memory, 10)},
		{"aof-base", "0"},
	} {
		dst = e.AppendFact(dst, fact[0], fact[1])
	}
	return dst
}

// AppendFact appends a fact about the file. Readers pass over one that they do not know.
func (e *Encoder) AppendFact(dst []byte, name, value string) []byte {
	dst = e.AppendString(append(dst, recordFact), []byte(name))
	return e.AppendString(dst, []byte(value))
}

// AppendDatabase appends that the next keys belong to a database.
func AppendDatabase(dst []byte, id int) []byte {
	return AppendLength(append(dst, recordDatabase), uint64(id))
}

// AppendSize appends how many keys the database has, and how many with a deadline. A
// reader takes them as a hint.
func AppendSize(dst []byte, keys, expires int) []byte {
	return AppendLength(AppendLength(append(dst, recordSize), uint64(keys)), uint64(expires))
}

// AppendIdle appends how many seconds ago the next key was accessed.
func AppendIdle(dst []byte, seconds int64) []byte {
	return AppendLength(append(dst, recordIdle), uint64(seconds))
}

// AppendFrequency appends how often the next key was accessed: a counter from 0 to 255.
func AppendFrequency(dst []byte, count int64) []byte {
	return append(dst, recordFrequency, byte(count))
}

// AppendKey appends a key with its value. deadline is in Unix ms, 0 for none.
func (e *Encoder) AppendKey(dst []byte, key string, v store.Value, deadline int64) []byte {
	if deadline != 0 {
		dst = binary.LittleEndian.AppendUint64(append(dst, recordDeadline), uint64(deadline))
	}
	dst = append(dst, typeOf(v))
	dst = e.AppendString(dst, []byte(key))
	return e.AppendBody(dst, v)
}

// AppendEnd appends the end of a file. sum is the Checksum of all bytes before dst, or 0 if the file
// has none; with says which.
func AppendEnd(dst []byte, sum uint64, with bool) []byte {
	dst = append(dst, recordEnd)
	if with {
		sum = checksum(sum, dst)
	}
	return binary.LittleEndian.AppendUint64(dst, sum)
}

// Checksum continues the checksum of a file with more bytes. That of none is 0.
func Checksum(sum uint64, p []byte) uint64 { return checksum(sum, p) }
