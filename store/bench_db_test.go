package store

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strconv"
	"testing"
)

// ignore is an Observer that ignores every report.
type ignore struct{}

func (ignore) Expired(int, string)                       {}
func (ignore) Added(int, string)                         {}
func (ignore) Renewed(int, string)                       {}
func (ignore) Emptying(*DB)                              {}
func (ignore) Swapped(_, _ *DB)                          {}
func (ignore) Lost(int, string)                          {}
func (ignore) Missed(int, []byte)                        {}
func (ignore) FieldsExpired(int, string, []string, bool) {}
func (ignore) Evicted(int, string)                       {}
func (ignore) Sooner()                                   {}

// lockKey returns the name of lock i, as long as usual lock names.
func lockKey(i int) []byte { return fmt.Appendf(nil, "lock:{order:%09d}", i) }

// putLock acquires lock i as a client's lock script does. The lease ends at at, in
// Unix milliseconds.
func putLock(db *DB, i int, at int64) {
	h := new(Hash)
	field := fmt.Appendf(nil, "8743c9c0-0795-4907-87fd-6c719a6b4586:%d", i%100)
	h.Set(field, []byte("1"), &db.space.Limits)
	db.SetDeadline(db.Set(lockKey(i), h), at)
}

// locks returns a database with n locks.
func locks(n int) *DB {
	db := NewSpace(1, ignore{}).DB(0)
	for i := range n {
		putLock(db, i, int64(1e9+i))
	}
	return db
}

// shuffledKeys returns names of locks from to from+n in random order, at most 65536,
// so that a benchmark uses the processor's caches as clients do.
func shuffledKeys(n, from int) [][]byte {
	keys := make([][]byte, min(n, 1<<16))
	for i := range keys {
		keys[i] = lockKey(from + rand.IntN(n))
	}
	return keys
}

func forDBSizes(b *testing.B, run func(b *testing.B, db *DB, n int)) {
	for _, n := range []int{1e3, 1e5, 1e6} {
		db := locks(n)
		b.Run(strconv.Itoa(n), func(b *testing.B) { b.ReportAllocs(); run(b, db, n) })
	}
}

func BenchmarkDBLookupHit(b *testing.B) {
	forDBSizes(b, func(b *testing.B, db *DB, n int) {
		keys, i := shuffledKeys(n, 0), 0
		for b.Loop() {
			db.Lookup(keys[i%len(keys)])
			i++
		}
	})
}

func BenchmarkDBLookupMiss(b *testing.B) {
	forDBSizes(b, func(b *testing.B, db *DB, n int) {
		keys, i := shuffledKeys(n, n), 0
		for b.Loop() {
			db.Lookup(keys[i%len(keys)])
			i++
		}
	})
}

// BenchmarkDBSetAndDelete acquires and releases a new lock beside the n that are held.
func BenchmarkDBSetAndDelete(b *testing.B) {
	forDBSizes(b, func(b *testing.B, db *DB, n int) {
		keys, i, v := shuffledKeys(n, n), 0, new(Hash)
		for b.Loop() {
			db.Set(keys[i%len(keys)], v)
			db.Delete(keys[i%len(keys)])
			i++
		}
	})
}

// BenchmarkDBDeleteAndSet releases a lock and acquires it again, so that each time an
// entry in the middle is removed.
func BenchmarkDBDeleteAndSet(b *testing.B) {
	forDBSizes(b, func(b *testing.B, db *DB, n int) {
		keys, i, v := shuffledKeys(n, 0), 0, new(Hash)
		for b.Loop() {
			db.Delete(keys[i%len(keys)])
			db.Set(keys[i%len(keys)], v)
			i++
		}
	})
}

// BenchmarkDBSetDeadline extends a lease, as a watchdog does.
func BenchmarkDBSetDeadline(b *testing.B) {
	forDBSizes(b, func(b *testing.B, db *DB, n int) {
		keys, i, at := shuffledKeys(n, 0), 0, int64(2e9)
		for b.Loop() {
			at++
			db.SetDeadline(db.Peek(keys[i%len(keys)]), at)
			i++
		}
	})
}

// BenchmarkDBExpireDue acquires a lock and ends its lease, beside n locks that stay.
func BenchmarkDBExpireDue(b *testing.B) {
	forDBSizes(b, func(b *testing.B, db *DB, n int) {
		keys, i, v := shuffledKeys(n, n), 0, new(Hash)
		for b.Loop() {
			db.SetDeadline(db.Set(keys[i%len(keys)], v), 5)
			db.space.SetNow(5)
			db.space.ExpireDue(1)
			db.space.SetNow(1)
			i++
		}
	})
}

// BenchmarkDBFill acquires n locks and reports the heap that one of them takes.
func BenchmarkDBFill(b *testing.B) {
	for _, n := range []int{1e5, 1e6} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			for b.Loop() {
				before := heapBytes()
				db := locks(n)
				b.ReportMetric(float64(heapBytes()-before)/float64(n), "B/lock")
				runtime.KeepAlive(db)
			}
		})
	}
}

// heapBytes returns the bytes of heap in use after a collection.
func heapBytes() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
