package cluster

import (
	"fmt"
	"iter"
	"math/bits"
	"strconv"
	"strings"
)

// Set is a set of slots. The zero Set is empty.
type Set struct {
	words [Slots / 64]uint64
	n     int
}

// All returns the set of all slots.
func All() (s Set) {
	s.AddRange(Range{0, Slots - 1})
	return s
}

// Has reports whether the slot is in the set.
func (s *Set) Has(slot int) bool { return s.words[slot/64]&(1<<(slot%64)) != 0 }

// Len returns the number of slots in the set.
func (s *Set) Len() int { return s.n }

// Add adds a slot.
func (s *Set) Add(slot int) {
	if !s.Has(slot) {
		s.words[slot/64] |= 1 << (slot % 64)
		s.n++
	}
}

// Remove removes a slot.
func (s *Set) Remove(slot int) {
	if s.Has(slot) {
		s.words[slot/64] &^= 1 << (slot % 64)
		s.n--
	}
}

// AddRange adds the slots of a range. Every configuration has the range of all slots, so whole
// words are added at once.
func (s *Set) AddRange(r Range) {
	for slot := r.First; slot <= r.Last; {
		if slot%64 == 0 && slot+63 <= r.Last {
			s.n += 64 - bits.OnesCount64(s.words[slot/64])
			s.words[slot/64] = ^uint64(0)
			slot += 64
			continue
		}
		s.Add(slot)
		slot++
	}
}

// Range is the slots from First to Last, both included.
type Range struct{ First, Last int }

// String returns the range as CLUSTER NODES shows it: "5" or "0-16383".
func (r Range) String() string {
	if r.First == r.Last {
		return strconv.Itoa(r.First)
	}
	return fmt.Sprintf("%d-%d", r.First, r.Last)
}

// Ranges returns the set as ranges, each as long as possible, in order.
func (s *Set) Ranges() iter.Seq[Range] {
	return func(yield func(Range) bool) {
		for first := s.next(0, true); first < Slots; {
			end := s.next(first, false)
			if !yield(Range{first, end - 1}) {
				return
			}
			first = s.next(end, true)
		}
	}
}

// next returns the first slot from slot on that is in the set, or with in false is not.
// It returns Slots when there is none.
func (s *Set) next(slot int, in bool) int {
	for slot < Slots {
		word := s.words[slot/64]
		if !in {
			word = ^word
		}
		if word >>= slot % 64; word != 0 {
			return slot + bits.TrailingZeros64(word)
		}
		slot += 64 - slot%64
	}
	return Slots
}

// ParseSet reads slots and ranges of slots: "0-8191" and "9000".
func ParseSet(words []string) (s Set, err error) {
	for _, word := range words {
		from, to, isRange := strings.Cut(word, "-")
		if !isRange {
			to = from
		}
		first, ok := parseSlot(from)
		last, ok2 := parseSlot(to)
		if !ok || !ok2 || first > last {
			return Set{}, fmt.Errorf("%q is no slot from 0 to %d and no range of them", word, Slots-1)
		}
		s.AddRange(Range{first, last})
	}
	return s, nil
}

func parseSlot(text string) (slot int, ok bool) {
	n, err := strconv.ParseUint(text, 10, 16)
	return int(n), err == nil && n < Slots
}

// String returns the set as ParseSet reads it.
func (s *Set) String() string {
	var words []string
	for r := range s.Ranges() {
		words = append(words, r.String())
	}
	return strings.Join(words, " ")
}
