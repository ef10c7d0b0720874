package store

// footprint counts the bytes of the keys, so that eviction need not ask the allocator,
// which knows the garbage too. It is off by default. Then it costs a comparison for each
// change of a key.
//
// A key that is about to change leaves the sum, once in a unit. settle adds it again with
// its new size. So the sum is right after any change that is reported before it happens,
// as a Snapshot needs it too. The sizes are estimates (Entry.Bytes), but the same for a
// key that has not changed: an error does not grow.
//
// The keys that exist when the counting begins are counted in batches, in the order of their
// hashes, because there may be millions. DB.counted is the place that CountMore has reached. A
// key behind it may change and go: it is in no sum yet.
type footprint struct {
	on   bool
	open []changedEntry // outside the sums, until settle
}

// changedEntry is an entry whose size is not in the sum of its database.
type changedEntry struct {
	db *DB
	e  *Entry // not unsettled any more if it has left the database
}

// What a key takes on average in the index of keys, and a deadline in the index of deadlines,
// in bytes.
const (
	usualSlot     = 24
	usualDeadline = 20
)

// sizeSamples is how many elements of a collection a size is estimated from.
const sizeSamples = 5

// unsettledBit is the bit of Entry.bits that says that the size of the entry is not in the
// sum of its database.
const unsettledBit = 1 << 24

// mostOpen is how large the list of changed entries may be whose memory is used again.
const mostOpen = 1024

// Bytes estimates the memory of the key in bytes, from at most samples elements; 0 means
// all elements. It does not depend on other keys, see DB.MemoryUsage.
func (e *Entry) Bytes(samples int) int64 {
	size := usualSlot
	if e.HasDeadline() {
		size += usualDeadline
	}
	return int64(size) + e.own(samples)
}

// own estimates the memory of the entry, its key and its value in bytes.
func (e *Entry) own(samples int) int64 {
	return int64(entryBytes(int(e.length))) + e.Value().MemoryUsage(samples)
}

// CountBytes begins or ends the counting of bytes, and reports whether that is a change.
// CountMore counts the keys that there are.
func (s *Space) CountBytes(on bool) (changed bool) {
	if s.footprint.on == on {
		return false
	}
	s.settle()
	s.footprint = footprint{on: on}
	for _, db := range s.Opened() {
		db.bytes, db.counted = 0, 0
		if db.watched = on || db.snapshot != nil; on && db.Len() == 0 {
			db.counted = allHashes
		}
	}
	return true
}

// allHashes is above every hash.
const allHashes = 1 << 32

// CountMore counts about n keys that were there when the counting began. It reports whether
// there are more.
func (s *Space) CountMore(n int) (more bool) {
	if !s.footprint.on {
		return false
	}
	for _, db := range s.Opened() {
		for db.counted < allHashes {
			if n <= 0 {
				return true
			}
			next := db.keys.index.scan(db.counted, n, func(e *Entry) {
				n--
				db.bytes += e.Bytes(sizeSamples)
			})
			if db.counted = next; next == 0 {
				db.counted = allHashes
			}
		}
	}
	return false
}

// counts reports whether the size of e is in the sum, or in the list of changed entries.
func (db *DB) counts(e *Entry) bool {
	return db.counted == allHashes || uint64(keyHash(bytesOf(e.Key()))) < db.counted
}

// CountedBytes returns the estimated memory of the keys that are counted, in bytes. It is 0
// unless CountBytes is on.
func (s *Space) CountedBytes() (n int64) {
	s.settle()
	for _, db := range s.Opened() {
		n += db.bytes
	}
	return n
}

// EstimateBytes estimates the memory of all keys in bytes, from about n keys of each database. It
// does not need the counting: the keys of the smallest hashes stand for the others.
func (s *Space) EstimateBytes(n int) (bytes int64) {
	for _, db := range s.Opened() {
		var seen, sum int64
		for at, more := uint64(0), db.Len() > 0; more && seen < int64(n); {
			at = db.keys.index.scan(at, n, func(e *Entry) {
				seen++
				sum += e.Bytes(sizeSamples)
			})
			more = at != 0
		}
		if seen > 0 {
			bytes += int64(float64(sum) / float64(seen) * float64(db.Len()))
		}
	}
	return bytes
}

// settle adds the sizes of the keys that have changed.
func (s *Space) settle() {
	f := &s.footprint
	for _, c := range f.open {
		if c.e.settle() {
			c.db.bytes += c.e.Bytes(sizeSamples)
		}
	}
	if len(f.open) > mostOpen {
		f.open = nil
		return
	}
	clear(f.open)
	f.open = f.open[:0]
}

// changing must be called before the value or the deadline of e changes.
func (db *DB) changing(e *Entry) {
	if db.watched {
		db.snapshot.changing(e)
		db.sizeChanges(e)
	}
}

// sizeChanges takes e out of the sum of bytes until settle.
func (db *DB) sizeChanges(e *Entry) {
	if db.space.footprint.on && db.counts(e) && !e.unsettled() {
		db.bytes -= e.Bytes(sizeSamples)
		db.unsettle(e)
	}
}

// sizeAdded makes settle add a new key.
func (db *DB) sizeAdded(e *Entry) {
	if db.space.footprint.on && db.counts(e) {
		db.unsettle(e)
	}
}

// sizeRemoved takes e out of the sum of bytes.
func (db *DB) sizeRemoved(e *Entry) {
	if db.space.footprint.on && db.counts(e) && !e.settle() {
		db.bytes -= e.Bytes(sizeSamples)
	}
}

func (db *DB) unsettle(e *Entry) {
	e.bits |= unsettledBit
	db.space.footprint.open = append(db.space.footprint.open, changedEntry{db, e})
}

// unsettled reports whether the size of e is not in the sum of its database.
func (e *Entry) unsettled() bool { return e.bits&unsettledBit != 0 }

// settle reports whether e was unsettled. It is not afterwards.
func (e *Entry) settle() (was bool) {
	was = e.unsettled()
	e.bits &^= unsettledBit
	return was
}
