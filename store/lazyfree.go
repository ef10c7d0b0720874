package store

// Lazyfree says which deletions are lazy: the lazyfree-lazy directives. In Redis a thread frees
// a value that is deleted lazily, if it is large. Go's collector frees all values. So the only
// effect is a count for INFO: Stats.LazyFreed.
type Lazyfree struct {
	Eviction  bool // of evicted keys
	Expire    bool // of keys whose deadline was due
	ServerDel bool // of values that a command replaces, or deletes as its side effect
}

// lazyfreeThreshold is the effort up to which Redis frees a value at once.
const lazyfreeThreshold = 64

// CountLazyFreed counts objects that were deleted lazily together. effort is how many
// allocations Redis frees: a small effort does not count.
func (s *Space) CountLazyFreed(objects, effort int) {
	if effort > lazyfreeThreshold {
		s.Stats.LazyFreed += int64(objects)
	}
}

// CountDropped counts v, which a command drops: a value that it replaces, or a result that no
// key keeps.
func (s *Space) CountDropped(v Value) {
	if s.Lazyfree.ServerDel {
		s.CountLazyFreed(1, freeEffort(v))
	}
}

// freeEffort estimates, as Redis does, how many allocations Redis has for v.
func freeEffort(v Value) int {
	switch v := v.(type) {
	case *Hash:
		if !v.Packed() {
			return v.Len()
		}
	case *List:
		return v.Nodes()
	case *Set:
		if v.table != nil {
			return v.Len()
		}
	case *ZSet:
		if !v.Packed() {
			return v.Len()
		}
	case *Stream:
		effort := v.chunks.len()
		if effort <= lazyfreeThreshold { // else the tree's nodes, which are more, are above it, too
			effort = v.RadixNodes()
		}
		if n := len(v.Groups); n > 0 {
			effort += n * (1 + v.Groups[0].Len()) // the first group stands for all
		}
		return effort
	}
	return 1
}
