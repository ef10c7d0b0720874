package store

// HashStats are the size of a hash table and how many items it has, for DEBUG HTSTATS.
type HashStats struct{ Slots, Items int }

// stats returns the figures of the index.
func (x *hashIndex[T]) stats() (s HashStats) {
	for _, p := range x.dense {
		s.Slots += partSlots
		s.Items += int(p.used)
	}
	return s
}

// stats returns the figures of the dict. Without an index, all its items share one slot.
func (d *dict[V]) stats() HashStats {
	if d.index != nil {
		return d.index.stats()
	}
	return HashStats{Slots: 1, Items: len(d.elems)}
}

// HashStats returns the figures of the tables of the keys and of the deadlines. Each
// deadline has a position of its own.
func (db *DB) HashStats() (keys, deadlines HashStats) {
	if db.Len() > 0 {
		keys = db.keys.index.stats()
	}
	if n := db.Expires(); n > 0 {
		deadlines = HashStats{Slots: n, Items: n}
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
