package store

// HashStats are figures about a hash table, for DEBUG HTSTATS. A chain is the items that
// share a home slot.
type HashStats struct {
	Slots, Items int
	// Chains has at i the number of home slots with i items.
	Chains []int
}

// chain counts a home slot with n items.
func (s *HashStats) chain(n int) {
	for len(s.Chains) <= n {
		s.Chains = append(s.Chains, 0)
	}
	s.Chains[n]++
	s.Slots++
	s.Items += n
}

// stats returns the figures of the index.
func (x *hashIndex[T]) stats() (s HashStats) {
	for _, p := range x.dense {
		var homes [partSlots]int
		for _, hash := range p.hashes {
			if hash != 0 {
				homes[hash%partSlots]++
			}
		}
		for _, n := range homes {
			s.chain(n)
		}
	}
	return s
}

// stats returns the figures of the dict. Without an index, it is a single chain.
func (d *dict[V]) stats() (s HashStats) {
	if d.index != nil {
		return d.index.stats()
	}
	s.chain(len(d.elems))
	return s
}

// HashStats returns the figures of the tables of the keys and of the deadlines. Each
// deadline has a position of its own.
func (db *DB) HashStats() (keys, deadlines HashStats) {
	if db.Len() > 0 {
		keys = db.keys.index.stats()
	}
	if n := db.Expires(); n > 0 {
		deadlines = HashStats{Slots: n, Items: n, Chains: []int{0, n}}
	}
	return keys, deadlines
}

// HashStatsOf returns the figures of the hash table of a value. ok is false if it has none.
func HashStatsOf(v Value) (s HashStats, ok bool) {
	switch v := v.(type) {
	case *Hash:
		if t := v.table(); t != nil {
			return t.stats(), true
		}
	case *Set:
		if v.table != nil {
			return v.table.stats(), true
		}
	case *ZSet:
		if v.table != nil {
			return v.table.scores.stats(), true
		}
	}
	return s, false
}

// Free returns the number of bytes that a text can grow by in its place.
func (s *String) Free() int { return cap(s.text) - len(s.text) }
