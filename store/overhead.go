package store

import (
	"unsafe"

	"github.com/lockredis/lockredis/internal/heapsize"
)

// Overhead is the memory of a database beside the names and values of its keys, in bytes.
type Overhead struct {
	Keys      int64 // the entries, and the index that finds them
	Deadlines int64
	Slots     int64 // the keys in the lists of slots; 0 unless Space.IndexSlots was called
}

// Sum returns the sum of the parts.
func (o Overhead) Sum() int64 { return o.Keys + o.Deadlines + o.Slots }

// Overhead returns the memory of the database beside the names and values of its keys. The
// time does not depend on the number of keys.
func (db *DB) Overhead() (o Overhead) {
	o.Keys = int64(db.keys.index.bytes(keyPartBytes())) + int64(db.Len())*int64(unsafe.Sizeof(Entry{}))
	o.Deadlines = int64(deadlineBytes(&db.deadlines) + deadlineBytes(&db.fields))
	if db.slots != nil {
		o.Slots = int64(db.slots.bytes())
	}
	return o
}

// MemoryUsage estimates the memory of a key of the database in bytes, from at most samples
// elements of its value; 0 means all elements. It has the key's share of the indexes of the
// database, so the sum over all keys is about what they take.
func (db *DB) MemoryUsage(e *Entry, samples int) int64 {
	const (
		fewKeys      = partMost / 2 // a part has as many when it was split
		mostSlot     = 64           // bytes; more is left of keys that are gone
		mostDeadline = 32
		mostInSlots  = 64
	)
	size := min(db.keys.index.bytes(keyPartBytes())/max(db.Len(), fewKeys), mostSlot)
	if e.HasDeadline() {
		size += min(deadlineBytes(&db.deadlines)/db.Expires(), mostDeadline)
	}
	if db.slots != nil {
		size += min(db.slots.bytes()/db.Len(), mostInSlots)
	}
	return int64(size) + e.own(samples)
}

// keyPartBytes returns the memory of a part of the index of keys.
func keyPartBytes() int { return heapsize.Pointers[part[*Entry]](1) }

// bytes returns the memory of the lists of slots, without what an empty index has.
func (x *slotIndex) bytes() int {
	return len(x.nodes)*heapsize.Pointers[slotNode](1) + heapsize.Map[*Entry, *slotNode](len(x.nodes))
}

// entryBytes returns the memory of an entry with a key of n bytes.
func entryBytes(n int) int {
	if n > mostNear {
		return heapsize.Pointers[farEntry](1) + heapsize.Text(n)
	}
	return heapsize.Class(int(unsafe.Sizeof(Entry{})) - len(Entry{}.near) + n)
}
