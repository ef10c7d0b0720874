// Package shrink gives back the memory of maps and slices that were large once. Go's maps never
// shrink, and a slice keeps its array: one client that names a million keys would leave the
// server with the room for them.
package shrink

import (
	"maps"
	"slices"
)

// A map or slice of at most least entries is never copied. A larger one is copied when it has
// less than a share of the entries that it had, so each removal costs a constant time on average.
const (
	least = 64
	share = 8
)

// Delete deletes key from m, or copies what is left of m into a new map. peak belongs to m and is
// the most entries that m had since it was made. It is 0 at first.
func Delete[K comparable, V any](m *map[K]V, key K, peak *int) {
	*peak = max(*peak, len(*m))
	delete(*m, key)
	if *peak <= least || len(*m) >= *peak/share {
		return
	}
	smaller := make(map[K]V, len(*m))
	maps.Copy(smaller, *m) // maps.Clone would keep the room
	*m, *peak = smaller, len(smaller)
}

// Pop removes the last element of s. It returns s, or a copy.
func Pop[S ~[]E, E any](s S) S {
	last := len(s) - 1
	clear(s[last:])
	s = s[:last]
	if cap(s) > least && len(s) < cap(s)/share {
		return slices.Clone(s)
	}
	return s
}
