package cluster

// A shard is a primary and its replicas.

// PrimaryOf returns the node that n, a node of v, is a replica of. Nil: n is a primary.
func (v *View) PrimaryOf(n *Node) *Node {
	if n.Primary == "" {
		return nil
	}
	return v.Node(n.Primary)
}

// Head returns the primary of n's shard: n itself, or the node that it is a replica of.
func (v *View) Head(n *Node) *Node {
	if p := v.PrimaryOf(n); p != nil {
		return p
	}
	return n
}

// Replicas returns the replicas of n, a node of v.
func (v *View) Replicas(n *Node) (replicas []*Node) {
	for i := range v.Nodes {
		if v.Nodes[i].Primary == n.ID {
			replicas = append(replicas, &v.Nodes[i])
		}
	}
	return replicas
}

// EpochOf returns the epoch that clients see of n: a replica has that of its primary.
func (v *View) EpochOf(n *Node) uint64 { return v.Head(n).Epoch }

// At returns up to where n has the stream of its shard.
func (n *Node) At() int64 {
	if n.Offset == nil {
		return 0
	}
	return n.Offset.Load()
}

// Rank returns how many replicas of n's primary are before n when the primary has failed: they have more
// of its stream, or as much and come first.
func (v *View) Rank(n *Node) (rank int) {
	before := true
	for _, other := range v.Replicas(v.Head(n)) {
		switch {
		case other == n:
			before = false
		case other.Health != Online || other.NoFailover:
		case other.At() > n.At(), before && other.At() == n.At():
			rank++
		}
	}
	return rank
}

// Follow makes n, a node of v without slots, a replica of primary.
func (v *View) Follow(n, primary *Node) { n.Primary, n.Heir = primary.ID, "" }

// TakeOver makes the replica n the primary of its shard: it owns the slots that its primary had, and the
// other nodes of the shard are its replicas. One that has failed will be, when it is online again.
func (v *View) TakeOver(n *Node) {
	was := v.PrimaryOf(n)
	n.Primary, n.Heir = "", ""
	n.Slots, was.Slots = was.Slots, Set{}
	for i := range v.Nodes {
		switch other := &v.Nodes[i]; {
		case other == n:
		case other.Primary == was.ID:
			other.Primary = n.ID
		case other == was && other.Health == Online:
			v.Follow(other, n)
		case other == was, other.Heir == was.ID:
			other.Heir = n.ID
		}
	}
}

// rename follows a node that gets another id.
func (v *View) rename(from, to string) {
	for i := range v.Nodes {
		if n := &v.Nodes[i]; n.Primary == from {
			n.Primary = to
		} else if n.Heir == from {
			n.Heir = to
		}
	}
}

// Majority reports whether the majority of the nodes that own slots is online.
func (v *View) Majority() bool { return v.majority }
