package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"runtime"
	"strconv"
	"testing"

	"github.com/lockredis/lockredis/internal/redistest"
)

// weighed is a kind of key, for which the heap's growth is compared with MEMORY USAGE.
type weighed struct {
	name     string
	keys     int
	key      string // its number follows, in 8 digits
	deadline bool
	value    filler
}

// filler returns a value of a kind.
type filler func(lim *Limits) Value

func text(n int) []byte { return bytes.Repeat([]byte{'x'}, n) }

func member(i int) []byte { return fmt.Appendf(nil, "member:%020d", i) }

func integer(*Limits) Value { return NewInt(7) }

func textOfSize(n int) filler { return func(*Limits) Value { return NewText(text(n)) } }

func hashWith(n int) filler {
	return func(lim *Limits) Value {
		h := new(Hash)
		for i := range n {
			h.Set(member(i), text(20), lim)
		}
		return h
	}
}

func deadlinesOn(n int) filler {
	return func(lim *Limits) Value {
		h := hashWith(n)(lim).(*Hash)
		for i := range n {
			h.SetFieldDeadline(member(i), int64(1000+i))
		}
		return h
	}
}

func intsetOf(n int) filler {
	return func(lim *Limits) Value {
		s := new(Set)
		for i := range n {
			s.Add(fmt.Append(nil, i), lim)
		}
		return s
	}
}

func setOf(n int) filler {
	return func(lim *Limits) Value {
		s := new(Set)
		for i := range n {
			s.Add(member(i), lim)
		}
		return s
	}
}

func zsetOf(n int) filler {
	return func(lim *Limits) Value {
		z := NewZSet(0, lim)
		for i := range n {
			z.Add(member(i), float64(i*7%n), lim)
		}
		return z
	}
}

func listOf(n int) filler {
	return func(lim *Limits) Value {
		l := NewList(lim)
		for i := range n {
			l.PushBack(member(i))
		}
		return l
	}
}

// streamOf returns streams with n entries. The first of them are pending.
func streamOf(n, pending int) filler {
	return func(lim *Limits) Value {
		s := new(Stream)
		for i := range n {
			fields := [][]byte{[]byte("field-name"), fmt.Appendf(nil, "value:%020d", i)}
			s.Append(StreamID{MS: uint64(i + 1)}, fields, lim)
		}
		if pending > 0 {
			g := s.Groups.Add([]byte("group-of-sixteen"))
			c := g.AddConsumer([]byte("consumer-of-sixteen"), 1)
			for i := range pending {
				g.Deliver(StreamID{MS: uint64(i + 1)}, c, 1)
			}
		}
		return s
	}
}

// weighedKeys are keys of all types and encodings. All texts have 16 bytes at least: see
// TestShortTextsShareTheirBlocks.
func weighedKeys() []weighed {
	long, veryLong := string(text(90)), string(text(500))
	return []weighed{
		{"integer", 100_000, "key:", false, integer},
		{"text", 100_000, "key:", false, textOfSize(30)},
		{"text with a deadline", 100_000, "key:", true, textOfSize(30)},
		{"long text", 10_000, "key:", false, textOfSize(3000)},
		{"integer, long key", 100_000, long, false, integer},
		{"integer, very long key", 20_000, veryLong, true, integer},
		{"lock", 100_000, "key:", true, hashWith(1)},
		{"packed hash", 1_000, "key:", false, hashWith(50)},
		{"hash", 20, "key:", false, hashWith(2000)},
		{"fields with deadlines", 20, "key:", false, deadlinesOn(1000)},
		{"intset", 20_000, "key:", false, intsetOf(20)},
		{"small set", 100_000, "key:", false, setOf(2)},
		{"set", 20, "key:", true, setOf(2000)},
		{"packed zset", 100_000, "key:", false, zsetOf(3)},
		{"zset", 20, "key:", false, zsetOf(2000)},
		{"short list", 100_000, "key:", false, listOf(3)},
		{"list", 20, "key:", false, listOf(5000)},
		{"short stream", 100_000, "key:", false, streamOf(2, 0)},
		{"stream", 20, "key:", false, streamOf(2000, 0)},
		{"stream with pending entries", 20, "key:", false, streamOf(1000, 900)},
	}
}

func TestTheMemoryUsageOfKeysIsWhatTheHeapGrowsBy(t *testing.T) {
	redistest.SkipUnlessWhole(t)
	for _, w := range weighedKeys() {
		t.Run(w.name, w.compare)
	}
}

// compare adds the keys, and compares what the heap grows by with the sum of MEMORY USAGE.
func (w *weighed) compare(t *testing.T) {
	const most = 3 // percent
	s := NewSpace(1, ignore{})
	s.SetNow(1)
	db, lim := s.DB(0), DefaultLimits()
	name := make([]byte, 0, 600)
	before := heapBytes()
	for i := range w.keys {
		name = strconv.AppendInt(append(name[:0], w.key...), int64(10_000_000+i), 10)
		e := db.Set(name, w.value(&lim))
		if w.deadline {
			db.SetDeadline(e, int64(1000+i))
		}
	}
	grown := heapBytes() - before
	var usage, counted int64
	db.Each(func(e *Entry) bool {
		usage += db.MemoryUsage(e, sizeSamples)
		counted += e.Bytes(sizeSamples)
		return true
	})
	off := 100 * (float64(usage)/float64(grown) - 1)
	t.Logf("a key takes %d bytes, MEMORY USAGE is %d (%+.1f %%), eviction counts %d",
		grown/int64(w.keys), usage/int64(w.keys), off, counted/int64(w.keys))
	if off < -most || off > most {
		t.Errorf("MEMORY USAGE is %.1f %% off", off)
	}
	runtime.KeepAlive(db)
}

// Keys of four bytes have no room of their own in their entries.
func TestTheOverheadOfADatabaseIsWhatKeysTakeWithoutTheirNamesAndValues(t *testing.T) {
	redistest.SkipBelow64Bits(t)
	const n, most = 60_000, 5 // percent
	for _, slots := range []bool{false, true} {
		s, v, name := NewSpace(1, ignore{}), NewInt(1), make([]byte, 4)
		if slots {
			s.IndexSlots()
		}
		db := s.DB(0)
		before := heapBytes()
		for i := range n {
			binary.LittleEndian.PutUint32(name, uint32(i))
			db.SetDeadline(db.Set(name, v), int64(1000+i))
		}
		grown, o := heapBytes()-before, db.Overhead()
		off := 100 * (float64(o.Sum())/float64(grown) - 1)
		t.Logf("%+v, the heap grew by %d: %.1f %% off", o, grown, off)
		if off < -most || off > most || (o.Slots > 0) != slots {
			t.Errorf("the overhead is %+v, the heap grew by %d", o, grown)
		}
		runtime.KeepAlive(db)
	}
}
