package store

import "slices"

// Intset is a small set of integers, in ascending order. The nil Intset is empty
// and ready.
type Intset []int64

// Has reports whether n is a member, in logarithmic time.
func (s Intset) Has(n int64) bool {
	_, found := slices.BinarySearch(s, n)
	return found
}

// Add adds n and reports whether it is new.
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

// Remove removes n and reports whether it was a member.
func (s *Intset) Remove(n int64) bool {
	i, found := slices.BinarySearch(*s, n)
	if found {
		*s = shrink(slices.Delete(*s, i, i+1))
	}
	return found
}
