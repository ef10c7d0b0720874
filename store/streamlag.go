package store

import "math/bits"

// Position returns how many entries had been added when the entry with this id was added.
// ok is false if that cannot be told, because entries were deleted or the id is no entry's.
func (s *Stream) Position(id StreamID) (n int64, ok bool) {
	switch {
	case s.Added == 0:
		return 0, true
	case s.length == 0 && !s.Last.Less(id):
		return s.Added, true
	case id == s.Last:
		return s.Added, true
	case s.Last.Less(id):
		return 0, false
	}
	if s.MaxDeleted.IsZero() || s.MaxDeleted.Less(s.first) {
		switch id.Compare(s.first) {
		case -1:
			return s.Added - int64(s.length), true
		case 0:
			return s.Added - int64(s.length) + 1, true
		}
	}
	return 0, false
}

// Gap reports whether XDEL may have deleted an entry above or at from, behind the first
// entry.
func (s *Stream) Gap(from StreamID) bool {
	return s.length > 0 && !s.MaxDeleted.IsZero() && !s.MaxDeleted.Less(s.first) &&
		!s.MaxDeleted.Less(from)
}

// Lag returns how many entries the group has not been delivered. ok is false if that cannot
// be told.
func (s *Stream) Lag(g *StreamGroup) (n int64, ok bool) {
	switch {
	case s.Added == 0:
		return 0, true
	case g.Read != ReadUnknown && !s.Gap(g.Last):
		return s.Added - g.Read, true
	}
	if n, ok = s.Position(g.Last); ok {
		return s.Added - n, true
	}
	return 0, false
}

// Delivered makes id the group's last delivered id if it is greater, and updates Read.
func (s *Stream) Delivered(g *StreamGroup, id StreamID) {
	if !g.Last.Less(id) {
		return
	}
	switch {
	case g.Read != ReadUnknown && !s.Gap(id):
		g.Read++
	case s.Added != 0:
		n, ok := s.Position(id)
		if !ok {
			n = ReadUnknown
		}
		g.Read = n
	}
	g.Last = id
}

// countNodes counts the nodes of a radix tree with the chunks' first ids as keys: 16 bytes
// each, big-endian. A node is a key's end, a branch, or the bytes between two of these. A
// byte that a branch has for each of its ways belongs to the branch.
func (s *Stream) countNodes() (nodes int) {
	const keyBytes = 16
	if s.chunks.len() == 0 {
		return 1
	}
	// branches are the depths of the branches on the way to the current key.
	var branches []int
	way := func(above, depth int) { // a way from a branch, at depth -1 the root, down to depth
		nodes++
		if depth > above+1 {
			nodes++
		}
	}
	top := func() int {
		if len(branches) == 0 {
			return -1
		}
		return branches[len(branches)-1]
	}
	var before StreamID
	begun := false
	// leave ends the way to the key before, which shares its first shared bytes with the
	// next key.
	leave := func(shared int) {
		depth := keyBytes
		for top() > shared {
			branch := top()
			way(branch, depth)
			branches = branches[:len(branches)-1]
			depth = branch
		}
		if top() < shared {
			branches = append(branches, shared)
		}
		way(shared, depth)
	}
	s.chunks.ascend(StreamID{}, func(id StreamID, _ *streamChunk) bool {
		if begun {
			leave(sharedBytes(before, id))
		}
		before, begun = id, true
		return true
	})
	leave(-1)
	return nodes
}

// sharedBytes returns how many leading bytes two different ids have in common, big-endian.
func sharedBytes(a, b StreamID) int {
	if a.MS != b.MS {
		return bits.LeadingZeros64(a.MS^b.MS) / 8
	}
	return 8 + bits.LeadingZeros64(a.Seq^b.Seq)/8
}
