package store

import "slices"

// Intset is a sorted sequence of different integers: a small set whose members
// are all integers. The nil Intset is empty and ready.
type Intset []int64

// Has reports whether n is in it, in logarithmic time.
func (s Intset) Has(n int64) bool {
	_, found := slices.BinarySearch(s, n)
	return found
}

// Add puts n in and reports whether it is new.
func (s *Intset) Add(n int64) bool {
	if last := len(*s) - 1; last < 0 || n > (*s)[last] {
		*s = append(*s, n)
		return true
	}
	i, found := slices.BinarySearch(*s, n)
	if !found {
		*s = slices.Insert(*s, i, n)
	}
	return !found
}

// Remove takes n out and reports whether it was there.
func (s *Intset) Remove(n int64) bool {
	i, found := slices.BinarySearch(*s, n)
	if found {
		*s = shrink(slices.Delete(*s, i, i+1))
	}
	return found
}
