package store

import (
	"bytes"
	"math"
	"unsafe"

	"github.com/lockredis/lockredis/internal/heapsize"
)

// Hash is the value of a hash key. A small hash is packed: field, value, field,
// value, in the order in which the fields were added. Beyond the limits, or with a
// long field or value, it becomes a table and stays one. The zero Hash is empty and
// ready.
//
// A lock is a hash of one field: this struct of 16 bytes and one tight slice. To
// fit in 16 bytes, the struct has no slice header, and one pointer for both forms.
type Hash struct {
	body unsafe.Pointer // the first byte of the packed pairs, or a *hashTable
	size uint32         // of the packed pairs, in bytes
	room uint32         // capacity of the packed pairs, in bytes; isTable: body is a table
}

const isTable = math.MaxUint32

// hashPackedMax is the largest size of packed pairs, in bytes, whatever the limits.
// It is Redis's.
const hashPackedMax = 1 << 30

// table returns the hash's table, nil while the hash is packed.
func (h *Hash) table() *hashTable {
	if h.room != isTable {
		return nil
	}
	return (*hashTable)(h.body)
}

func (h *Hash) setTable(t *hashTable) { *h = Hash{body: unsafe.Pointer(t), room: isTable} }

// packed returns the pairs of a hash that is not a table. The caller must pass
// changed pairs to setPacked.
func (h *Hash) packed() Packed { return unsafe.Slice((*byte)(h.body), h.room)[:h.size] }

func (h *Hash) setPacked(p Packed) {
	*h = Hash{body: unsafe.Pointer(unsafe.SliceData(p)), size: uint32(len(p)), room: uint32(cap(p))}
}

// hashTable maps fields to values.
type hashTable struct {
	dict[[]byte]
	times *fieldTimes // nil until a field gets a deadline
}

// Type returns TypeHash.
func (h *Hash) Type() Type { return TypeHash }

// Encoding returns "listpack" or "hashtable".
func (h *Hash) Encoding() string {
	if !h.Packed() {
		return "hashtable"
	}
	return "listpack"
}

// Clone returns an independent copy of the same encoding.
func (h *Hash) Clone() Value {
	clone := &Hash{}
	if h.Packed() {
		clone.setPacked(h.packed().Clone())
		return clone
	}
	elems := h.table().elems
	t := newHashTable(len(elems))
	for _, e := range elems {
		t.add(e.key, bytes.Clone(e.value))
	}
	t.times = h.times().clone()
	clone.setTable(t)
	return clone
}

// MemoryUsage estimates the memory of the value in bytes (see Value).
func (h *Hash) MemoryUsage(samples int) int64 {
	size := heapsize.Pointers[Hash](1)
	if h.Packed() {
		return int64(size + heapsize.Text(int(h.room)))
	}
	t := h.table()
	size += heapsize.Pointers[hashTable](1) + t.bytes() + t.times.bytes()
	return int64(size) + sampled(len(t.elems), samples, func(i int) int {
		return heapsize.Text(len(t.elems[i].key)) + heapsize.Text(cap(t.elems[i].value))
	})
}

// Packed reports whether the hash is packed, which means that it is small.
func (h *Hash) Packed() bool { return h.room != isTable }

// Len returns the number of fields.
func (h *Hash) Len() int {
	if t := h.table(); t != nil {
		return len(t.elems)
	}
	return h.packed().Len() / 2
}

// Get returns the value of field. It is valid until the hash changes. ok is false
// if there is no such field.
func (h *Hash) Get(field []byte) (value []byte, ok bool) {
	if t := h.table(); t != nil {
		i := t.find(field)
		if i < 0 {
			return nil, false
		}
		return t.elems[i].value, true
	}
	p := h.packed()
	pos := p.Find(packedHeader, field, 1)
	if pos < 0 {
		return nil, false
	}
	return p.At(p.Next(pos)), true
}

// Has reports whether the hash has the field.
func (h *Hash) Has(field []byte) bool {
	if t := h.table(); t != nil {
		return t.find(field) >= 0
	}
	p := h.packed()
	return p.Find(packedHeader, field, 1) >= 0
}

// Set sets the value of field, removes the field's deadline and reports whether the
// field is new. The hash becomes a table if it exceeds lim.
func (h *Hash) Set(field, value []byte, lim *Limits) (added bool) {
	if times := h.times(); times != nil {
		times.remove(field)
	}
	return h.SetKeepDeadline(field, value, lim)
}

// SetKeepDeadline is Set for a field that keeps its deadline.
func (h *Hash) SetKeepDeadline(field, value []byte, lim *Limits) (added bool) {
	t := h.table()
	if t == nil && (len(field) > lim.HashValue || len(value) > lim.HashValue ||
		int(h.size)+len(field)+len(value) > hashPackedMax) {
		t = h.toTable()
	}
	if t != nil {
		return setField(t, field, value)
	}
	p := h.packed()
	if pos := p.Find(packedHeader, field, 1); pos >= 0 {
		p.Replace(p.Next(pos), value)
		h.setPacked(p)
		return false
	}
	p.Append(field, value)
	h.setPacked(p)
	if p.Len()/2 > lim.HashEntries {
		h.toTable()
	}
	return true
}

// FitArguments makes the hash a table if one of elems is too long to be packed. elems
// are the fields and values that the caller is about to set.
func (h *Hash) FitArguments(elems [][]byte, lim *Limits) {
	if !h.Packed() {
		return
	}
	for _, elem := range elems {
		if len(elem) > lim.HashValue {
			h.toTable()
			return
		}
	}
}

// Delete removes the field and reports whether the hash had it.
func (h *Hash) Delete(field []byte) bool {
	if t := h.table(); t != nil {
		i := t.find(field)
		if i >= 0 {
			t.removeAt(i)
			if t.times != nil {
				t.times.remove(field)
			}
		}
		return i >= 0
	}
	p := h.packed()
	pos := p.Find(packedHeader, field, 1)
	if pos < 0 {
		return false
	}
	p.Delete(pos, 2)
	h.setPacked(p)
	return true
}

// Each calls do for every pair until do returns false. A packed hash has the order
// in which the fields were added. do must not change the hash.
func (h *Hash) Each(do func(field, value []byte) bool) {
	if t := h.table(); t != nil {
		for i := range t.elems {
			e := &t.elems[i]
			if !do(bytesOf(e.key), e.value) {
				return
			}
		}
		return
	}
	p := h.packed()
	for pos := p.First(); pos >= 0; {
		var field, value []byte
		field, pos = p.Elem(pos)
		value, pos = p.Elem(pos)
		if !do(field, value) {
			return
		}
	}
}

// At returns pair i of Len, for random picks. The time is constant for a table and
// linear for a packed hash.
func (h *Hash) At(i int) (field, value []byte) {
	if t := h.table(); t != nil {
		e := &t.elems[i]
		return bytesOf(e.key), e.value
	}
	p := h.packed()
	field, next := p.Elem(p.Seek(2 * i))
	return field, p.At(next)
}

// Scan visits about count pairs from cursor on (0: a new scan) and returns the next
// cursor, 0 if the scan is complete. One call visits all of a packed hash. do must
// not change the hash.
func (h *Hash) Scan(cursor uint64, count int, do func(field, value []byte)) uint64 {
	t := h.table()
	if t == nil {
		h.Each(func(field, value []byte) bool { do(field, value); return true })
		return 0
	}
	return t.scan(cursor, count, func(i int) {
		e := &t.elems[i]
		do(bytesOf(e.key), e.value)
	})
}

func (h *Hash) toTable() *hashTable {
	t := newHashTable(h.Len() + 1)
	h.Each(func(field, value []byte) bool {
		t.add(string(field), bytes.Clone(value))
		return true
	})
	h.setTable(t)
	return t
}

// newHashTable returns an empty table with room for size fields.
func newHashTable(size int) *hashTable { return &hashTable{dict: newDict[[]byte](size)} }

// setField is Set for a table. It reuses the memory of the old value unless the new
// value is much shorter.
func setField(t *hashTable, field, value []byte) (added bool) {
	i := t.find(field)
	if i < 0 {
		t.add(string(field), bytes.Clone(value))
		return true
	}
	e := &t.elems[i]
	if len(value) > cap(e.value) || cap(e.value) > 64 && len(value) < cap(e.value)/4 {
		e.value = nil
	}
	e.value = append(e.value[:0], value...)
	return false
}
