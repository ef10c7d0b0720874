package rdb

import (
	"errors"
	"fmt"
)

// Version is the RDB version that the package writes. It is redis-server 7.0's.
const Version = 10

// newestVersion is the newest RDB version of a file that is read: Redis 7.2 and Valkey 8 write it.
const newestVersion = 11

// valkeyVersion is the RDB version of Valkey 9.
const valkeyVersion = 80

// The types of values, as a payload's first byte.
const (
	typeString      = 0
	typeList        = 1
	typeSet         = 2
	typeZSetText    = 3 // scores as text
	typeHash        = 4
	typeZSet        = 5 // scores as 8 bytes
	typeModuleOld   = 6
	typeModule      = 7
	typeHashZipmap  = 9 // of Redis 2.4 and older
	typeListZip     = 10
	typeSetInts     = 11
	typeZSetZip     = 12
	typeHashZip     = 13
	typeListZips    = 14 // a sequence of ziplists
	typeStream      = 15
	typeHashPacked  = 16
	typeZSetPacked  = 17
	typeListPacked  = 18 // a sequence of listpacks and single elements
	typeStreamNewer = 19

	// The types that Redis 7.2 and Valkey write.
	typeSetPacked    = 20
	typeStreamActive = 21 // consumers have the time of their last success, too
	typeHashTimes    = 22 // of Valkey 9: each field has a deadline in ms, or -1
)

// known reports whether a server may have values of the type kind. newer servers than Redis 7.0
// have more types.
func known(kind byte, newer bool) bool { return newer || kind < typeSetPacked }

// The kinds of a list's nodes.
const (
	nodePlain  = 1 // one element
	nodePacked = 2 // a listpack
)

// The two highest bits of a length's first byte, and the encodings of strings.
const (
	length6       = 0x00
	length14      = 0x40
	length32      = 0x80
	length64      = 0x81
	encodedString = 0xc0 // | one of the next four
	encodedInt8   = 0
	encodedInt16  = 1
	encodedInt32  = 2
	encodedLZF    = 3
)

// ErrCorrupt is the error for bytes that are no value. Errors of the package wrap it.
var ErrCorrupt = errors.New("corrupt data")

// ErrEmpty is the error for an aggregate without elements. Redis has no such values,
// but some of its versions wrote them by mistake.
var ErrEmpty = errors.New("empty value")

// ErrUnsupported is the error for data that Redis knows and lockredis does not: modules,
// and types that it does not have.
var ErrUnsupported = errors.New("unsupported data")

// corrupt returns an error that says what is wrong.
func corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrCorrupt}, args...)...)
}

// unsupported returns an error that names what lockredis does not have.
func unsupported(what string) error { return fmt.Errorf("%w: %s", ErrUnsupported, what) }
