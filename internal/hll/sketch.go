package hll

import (
	"encoding/binary"
	"errors"
)

const (
	registers  = 1 << indexBits
	indexBits  = 14
	headerSize = 16
	denseSize  = headerSize + (registers*registerBits+7)/8
	stale      = 0x80 // in the header's last byte: the cached cardinality is out of date

	registerBits = 6
	maxRegister  = 1<<registerBits - 1
)

// Len is the number of a sketch's registers.
const Len = registers

// The encodings of a sketch, as they are in the header.
const (
	dense  = 0
	sparse = 1
)

// ErrCorrupt is returned for a sparse sketch whose runs do not cover all registers.
var ErrCorrupt = errors.New("hll: runs do not cover the registers")

// Sketch is an approximate set of elements. It is a string that Valid accepts. The methods
// that write change it in place or replace its bytes.
type Sketch []byte

// New returns the sketch of an empty set. It is sparse.
func New() Sketch {
	s := make(Sketch, headerSize, headerSize+2)
	copy(s, "HYLL")
	s[4] = sparse
	return appendZeros(s, registers)
}

// Valid reports whether b has the header of a sketch, and the length if it is dense. The
// runs of a sparse sketch are not checked.
func Valid(b []byte) bool {
	return len(b) >= headerSize && string(b[:4]) == "HYLL" && b[4] <= sparse &&
		(b[4] != dense || len(b) == denseSize)
}

// Dense reports whether the encoding is dense.
func (s Sketch) Dense() bool { return s[4] == dense }

// Cached returns the cardinality in the header. ok is false when it is out of date.
func (s Sketch) Cached() (n uint64, ok bool) {
	return binary.LittleEndian.Uint64(s[8:]), s[headerSize-1]&stale == 0
}

// Cache stores the cardinality in the header.
func (s Sketch) Cache(n uint64) { binary.LittleEndian.PutUint64(s[8:], n) }

// Invalidate marks the cardinality in the header as out of date.
func (s Sketch) Invalidate() { s[headerSize-1] |= stale }

// Add adds an element and reports whether a register has changed. A sparse sketch becomes
// dense when it would grow beyond limit bytes, or when a register does not fit.
func (s *Sketch) Add(element []byte, limit int) (changed bool, err error) {
	index, value := registerOf(element)
	return s.set(&position{}, index, value, limit)
}

// set raises a register to value, if it is less. A search in a sparse sketch begins at from
// and leaves from where the search for a higher register may begin.
func (s *Sketch) set(from *position, index int, value byte, limit int) (changed bool, err error) {
	if s.Dense() {
		return s.setDense(index, value), nil
	}
	return s.setSparse(from, index, value, limit)
}

// Registers are the values of a sketch's registers.
type Registers [registers]byte

// Merge raises each of r to the register of s. After ErrCorrupt some may have been raised.
func (r *Registers) Merge(s Sketch) error {
	if s.Dense() {
		s.eachDense(func(index int, value byte) { r[index] = max(r[index], value) })
		return nil
	}
	return s.eachRun(func(index, length int, value byte) {
		for i := index; i < index+length; i++ {
			r[i] = max(r[i], value)
		}
	})
}

// Raise raises each register of s to r's and marks the cached cardinality as out of
// date. It leaves a register as it is if the runs of s are corrupt there.
func (s *Sketch) Raise(r *Registers, limit int) {
	var from position
	for index, value := range r {
		if value > 0 {
			s.set(&from, index, value, limit)
		}
	}
	s.Invalidate()
}

// registerOf returns the register of an element and the value that it raises it to: one more
// than the number of zeros behind the last 1 of the rest of its hash, at most 51.
func registerOf(element []byte) (index int, value byte) {
	hash := murmur64A(element, 0xadc83b19)
	index = int(hash % registers)
	hash = hash>>indexBits | 1<<(64-indexBits)
	for value = 1; hash&1 == 0; value++ {
		hash >>= 1
	}
	return index, value
}
