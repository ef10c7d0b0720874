package store

import (
	"unsafe"

	"github.com/lockredis/lockredis/expiry"
)

// Entry is a key with its value. It is valid until the key is deleted or
// overwritten: after another command has run, the key must be looked up again.
//
// Every lock has an Entry, so it is small. The key is in the same allocation (see
// allocate). The value is a pointer and a kind: an interface would take 8 bytes more.
type Entry struct {
	value    unsafe.Pointer // to a value of the kind in bits
	bits     uint32         // 24 bits about accesses, see access.go; unsettledBit; the kind; markedBit
	length   uint32         // of the key, in bytes
	deadline expiry.Item    // 4 bytes, see DB.Deadline
	near     [4]byte        // the first bytes of the key, up to mostNear; the others follow
}

// mostNear is the length of the longest key that is in the entry's allocation, in bytes.
const mostNear = 108

// farEntry is an entry with a longer key.
type farEntry struct {
	Entry
	key *byte
}

// nearEntry is an entry with room for a longer key behind near.
type nearEntry[T any] struct {
	Entry
	_ T
}

// newEntry returns an entry with a copy of key.
func newEntry(key []byte, v Value) *Entry {
	if len(key) > mostNear {
		name := string(key)
		far := &farEntry{Entry{length: uint32(len(key))}, unsafe.StringData(name)}
		far.setValue(v)
		return &far.Entry
	}
	e := allocate(len(key))
	e.length = uint32(len(key))
	copy(unsafe.Slice(&e.near[0], len(key)), key)
	e.setValue(v)
	return e
}

// allocate returns an entry with room for a key of n bytes, up to mostNear. It chooses
// among Go's size classes.
func allocate(n int) *Entry {
	switch rest := n - len(Entry{}.near); {
	case rest <= 0:
		return new(Entry)
	case rest <= 8:
		return &new(nearEntry[[8]byte]).Entry
	case rest <= 24:
		return &new(nearEntry[[24]byte]).Entry
	case rest <= 40:
		return &new(nearEntry[[40]byte]).Entry
	case rest <= 56:
		return &new(nearEntry[[56]byte]).Entry
	case rest <= 72:
		return &new(nearEntry[[72]byte]).Entry
	case rest <= 88:
		return &new(nearEntry[[88]byte]).Entry
	}
	return &new(nearEntry[[mostNear - 4]byte]).Entry
}

// Key returns the key.
func (e *Entry) Key() string {
	if e.length > mostNear {
		return unsafe.String((*farEntry)(unsafe.Pointer(e)).key, e.length)
	}
	return unsafe.String(&e.near[0], e.length)
}

// The kinds of values, in the three bits of Entry.bits above unsettledBit. An entry
// without a value has none of them.
const (
	kindUnit uint32 = unsettledBit << 1
	kindMask        = 7 * kindUnit

	stringKind = 1 * kindUnit
	hashKind   = 2 * kindUnit
	listKind   = 3 * kindUnit
	setKind    = 4 * kindUnit
	zsetKind   = 5 * kindUnit
	streamKind = 6 * kindUnit
)

// markedBit is the bit of Entry.bits above the kind.
const markedBit = 8 * kindUnit

// Mark marks the key for the observer, which may know something about it. The mark stays until the
// key is gone.
func (e *Entry) Mark() { e.bits |= markedBit }

// Marked reports whether Mark was called.
func (e *Entry) Marked() bool { return e.bits&markedBit != 0 }

// Value returns the value.
func (e *Entry) Value() Value {
	switch e.bits & kindMask {
	case stringKind:
		return (*String)(e.value)
	case hashKind:
		return (*Hash)(e.value)
	case listKind:
		return (*List)(e.value)
	case setKind:
		return (*Set)(e.value)
	case zsetKind:
		return (*ZSet)(e.value)
	case streamKind:
		return (*Stream)(e.value)
	}
	return nil
}

// setValue makes v the value. nil stands for no value.
func (e *Entry) setValue(v Value) {
	kind := uint32(0)
	switch v := v.(type) {
	case *String:
		kind, e.value = stringKind, unsafe.Pointer(v)
	case *Hash:
		kind, e.value = hashKind, unsafe.Pointer(v)
	case *List:
		kind, e.value = listKind, unsafe.Pointer(v)
	case *Set:
		kind, e.value = setKind, unsafe.Pointer(v)
	case *ZSet:
		kind, e.value = zsetKind, unsafe.Pointer(v)
	case *Stream:
		kind, e.value = streamKind, unsafe.Pointer(v)
	case nil:
		e.value = nil
	default:
		panic("store: a value of an unknown type")
	}
	e.bits = e.bits&^kindMask | kind
}

// hashIn returns the value of e if it is a hash, else nil. As a method it would
// have each package that names an Entry compile the dict again (Decisions in ARCHITECTURE.md).
func hashIn(e *Entry) *Hash {
	if e.bits&kindMask != hashKind {
		return nil
	}
	return (*Hash)(e.value)
}

// stream reports whether the value is a stream.
func (e *Entry) stream() bool { return e.bits&kindMask == streamKind }

// HasDeadline reports whether the key has a deadline.
func (e *Entry) HasDeadline() bool { return e.deadline.Set() }

// DeadlineItem returns the entry's item in DB.deadlines (expiry.Holder).
func (e *Entry) DeadlineItem() *expiry.Item { return &e.deadline }
