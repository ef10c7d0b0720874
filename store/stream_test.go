package store

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// naiveStream is a stream as a slice of entries.
type naiveStream struct {
	entries    []naiveEntry
	maxDeleted StreamID
	added      int64
	lowered    bool // the last id was lowered, as by XSETID
}

type naiveEntry struct {
	id     StreamID
	fields string
}

func flat(e StreamEntry) naiveEntry {
	var fields []string
	n := e.Fields(func(name, value StreamText) {
		fields = append(fields, string(name.Append(nil)), string(value.Append(nil)))
	})
	if n != e.Len() {
		panic("Fields and Len disagree")
	}
	return naiveEntry{e.ID, fmt.Sprintf("%q", fields)}
}

func (m *naiveStream) between(from, to StreamID) (found []naiveEntry) {
	for _, e := range m.entries {
		if !e.id.Less(from) && !to.Less(e.id) {
			found = append(found, e)
		}
	}
	return found
}

func (m *naiveStream) check(t *rapid.T, s *Stream) {
	if err := s.check(); err != nil {
		t.Fatal(err)
	}
	first, last := StreamID{}, StreamID{}
	if n := len(m.entries); n > 0 {
		first, last = m.entries[0].id, m.entries[n-1].id
	}
	if s.Len() != len(m.entries) || s.First() != first || s.LastEntry() != last ||
		s.MaxDeleted != m.maxDeleted || s.Added != m.added {
		t.Fatalf("%d entries from %v to %v, deleted %v, added %d; want %d from %v to %v, %v, %d",
			s.Len(), s.First(), s.LastEntry(), s.MaxDeleted, s.Added,
			len(m.entries), first, last, m.maxDeleted, m.added)
	}
}

func collect(s *Stream, from, to StreamID, back bool) (found []naiveEntry) {
	s.Range(from, to, back, func(e StreamEntry) bool {
		found = append(found, flat(e))
		return true
	})
	return found
}

var (
	drawNames = rapid.SampledFrom([][]string{{"f", "g"}, {"f", "g"}, {"f"}, {"g", "f"}, {"", "", "x"}, {"1"}, {"01"}})
	drawValue = rapid.OneOf(rapid.SampledFrom([]string{"", "0", "-5", "123456", "v", "-0", "007", "+1"}),
		rapid.Map(rapid.Int64(), func(n int64) string { return strconv.FormatInt(n, 10) }),
		rapid.StringN(0, 200, 300))
)

func TestStreamEqualsASliceOfEntries(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lim := DefaultLimits()
		lim.StreamNodeEntries = rapid.SampledFrom([]int64{1, 2, 5, 100, 0}).Draw(t, "max entries")
		lim.StreamNodeBytes = rapid.SampledFrom([]int64{100, 400, 4096, 0}).Draw(t, "max bytes")
		s, m := &Stream{}, &naiveStream{}
		most := func() uint64 { return s.Last.MS + 3 }
		t.Repeat(map[string]func(*rapid.T){
			"append": func(t *rapid.T) {
				for range rapid.IntRange(1, 20).Draw(t, "n") {
					id := StreamID{
						MS:  s.Last.MS + rapid.Uint64Range(0, 3).Draw(t, "later"),
						Seq: rapid.Uint64Range(0, 300).Draw(t, "seq"),
					}
					if !s.Last.Less(id) {
						id, _ = s.Last.Next()
					}
					var fields [][]byte
					var texts []string
					for _, name := range drawNames.Draw(t, "names") {
						value := drawValue.Draw(t, "value")
						fields, texts = append(fields, []byte(name), []byte(value)), append(texts, name, value)
					}
					if !s.Append(id, fields, &lim) {
						t.Fatal("an entry is too large")
					}
					m.entries = append(m.entries, naiveEntry{id, fmt.Sprintf("%q", texts)})
					m.added++
				}
			},
			"delete": func(t *rapid.T) {
				id := drawID(t, most(), "id")
				if n := len(m.entries); n > 0 && rapid.Bool().Draw(t, "existing") {
					id = m.entries[rapid.IntRange(0, n-1).Draw(t, "which")].id
				}
				i := slices.IndexFunc(m.entries, func(e naiveEntry) bool { return e.id == id })
				if s.Has(id) != (i >= 0) || s.Delete(id) != (i >= 0) {
					t.Fatalf("delete of %v, which is entry %d", id, i)
				}
				if i >= 0 {
					m.entries = slices.Delete(m.entries, i, i+1)
					if m.maxDeleted.Less(id) {
						m.maxDeleted = id
					}
				}
			},
			"lower the last id": func(t *rapid.T) {
				least := s.LastEntry()
				s.Last.MS -= rapid.Uint64Range(0, s.Last.MS-least.MS).Draw(t, "lower")
				if s.Last.Less(least) {
					s.Last = least
				}
				m.lowered = true
			},
			"trim to a length": func(t *rapid.T) {
				n := rapid.IntRange(0, len(m.entries)+2).Draw(t, "length")
				removed := s.Trim(StreamTrim{MaxLen: int64(n)})
				if want := max(0, len(m.entries)-n); removed != int64(want) {
					t.Fatalf("%d removed, want %d", removed, want)
				}
				m.entries = m.entries[removed:]
			},
			"trim to an id": func(t *rapid.T) {
				id := drawID(t, most(), "id")
				removed := s.Trim(StreamTrim{ByID: true, MinID: id})
				want := len(m.entries) - len(m.between(id, MaxStreamID))
				if m.lowered { // a deleted entry above id ends the trimming, as in Redis
					want = min(want, int(removed))
				}
				if removed != int64(want) {
					t.Fatalf("%d removed, want %d", removed, want)
				}
				m.entries = m.entries[removed:]
			},
			"trim chunks": func(t *rapid.T) {
				trim := StreamTrim{
					ByID: rapid.Bool().Draw(t, "by id"), MinID: drawID(t, most(), "id"), Whole: true,
					MaxLen: int64(rapid.IntRange(0, len(m.entries)+2).Draw(t, "length")),
					Limit:  int64(rapid.IntRange(0, 300).Draw(t, "limit")),
				}
				want := max(0, int64(len(m.entries))-trim.MaxLen)
				if trim.ByID {
					want = int64(len(m.entries) - len(m.between(trim.MinID, MaxStreamID)))
				}
				removed := s.Trim(trim)
				if removed > want || trim.Limit > 0 && removed > trim.Limit {
					t.Fatalf("%d removed, want at most %d and %d", removed, want, trim.Limit)
				}
				m.entries = m.entries[removed:]
			},
			"range": func(t *rapid.T) {
				from, to := drawID(t, most(), "from"), drawID(t, most(), "to")
				want := m.between(from, to)
				if got := collect(s, from, to, false); !slices.Equal(got, want) {
					t.Fatalf("from %v to %v: %v, want %v", from, to, got, want)
				}
				slices.Reverse(want)
				if got := collect(s, from, to, true); !slices.Equal(got, want) {
					t.Fatalf("back to %v from %v: %v, want %v", from, to, got, want)
				}
			},
			"clone": func(t *rapid.T) {
				was := s
				s = s.Clone().(*Stream)
				was.Trim(StreamTrim{})
				was.Append(MaxStreamID, [][]byte{[]byte("other"), []byte("value")}, &lim)
			},
			"count nodes": func(*rapid.T) { s.RadixNodes() },
			"":            func(t *rapid.T) { m.check(t, s) },
		})
	})
}

func TestStreamGroupEqualsAMapOfPendingEntries(t *testing.T) {
	type pending struct {
		consumer string
		at, n    int64
	}
	rapid.Check(t, func(t *rapid.T) {
		s := &Stream{}
		g := s.Groups.Add([]byte("g"))
		model := map[StreamID]pending{}
		drawName := rapid.SampledFrom([]string{"a", "b", "c", ""})
		consumer := func(t *rapid.T) *StreamConsumer {
			name := []byte(drawName.Draw(t, "consumer"))
			if c := g.Consumer(name); c != nil {
				return c
			}
			return g.AddConsumer(name, 1)
		}
		t.Repeat(map[string]func(*rapid.T){
			"deliver": func(t *rapid.T) {
				c, at := consumer(t), rapid.Int64Range(1, 9).Draw(t, "at")
				id := drawID(t, 50, "id")
				for range rapid.IntRange(1, 100).Draw(t, "n") {
					g.Deliver(id, c, at)
					model[id] = pending{c.Name, at, 1}
					id.MS++
				}
			},
			"assign": func(t *rapid.T) {
				id, c := drawID(t, 150, "id"), consumer(t)
				was := model[id]
				g.Assign(id, c).Count++
				model[id] = pending{c.Name, was.at, was.n + 1}
			},
			"acknowledge": func(t *rapid.T) {
				id := drawID(t, 150, "id")
				_, had := model[id]
				if g.Acknowledge(id) != had {
					t.Fatalf("acknowledge of %v", id)
				}
				delete(model, id)
			},
			"remove a consumer": func(t *rapid.T) {
				c := consumer(t)
				g.RemoveConsumer(c)
				for id, p := range model {
					if p.consumer == c.Name {
						delete(model, id)
					}
				}
			},
			"clone": func(t *rapid.T) {
				was := g
				s = s.Clone().(*Stream)
				g = s.Groups.Find([]byte("g"))
				for _, c := range slices.Clone(was.Consumers()) {
					was.RemoveConsumer(c)
				}
			},
			"": func(t *rapid.T) {
				if err := s.check(); err != nil {
					t.Fatal(err)
				}
				if g.Len() != len(model) {
					t.Fatalf("%d pending, want %d", g.Len(), len(model))
				}
				g.Each(StreamID{}, func(id StreamID, p *Pending) bool {
					if got := (pending{p.Consumer.Name, p.Delivered, p.Count}); got != model[id] {
						t.Fatalf("%v is %v, want %v", id, got, model[id])
					}
					return true
				})
			},
		})
	})
}

// The node counts are redis-server's, of streams with stream-node-max-entries 1.
func TestRadixNodesAreThoseOfRedis(t *testing.T) {
	lim := DefaultLimits()
	lim.StreamNodeEntries = 1
	for _, test := range []struct {
		ids   []StreamID
		nodes int
	}{
		{nil, 1},
		{[]StreamID{{1, 1}}, 2},
		{[]StreamID{{1, 1}, {1, 2}}, 4},
		{[]StreamID{{1, 1}, {2, 1}}, 6},
		{[]StreamID{{1, 1}, {1, 2}, {2, 1}}, 8},
		{[]StreamID{{1, 1}, {1 << 60, 1}}, 5},
	} {
		s := &Stream{}
		for _, id := range test.ids {
			s.Append(id, [][]byte{[]byte("f"), []byte("v")}, &lim)
		}
		if got := s.RadixNodes(); got != test.nodes {
			t.Errorf("%v: %d nodes, want %d", test.ids, got, test.nodes)
		}
	}
}

func TestAnEntryAboveAGigabyteIsRefused(t *testing.T) {
	s, part := &Stream{}, make([]byte, 1<<20)
	fields := [][]byte{[]byte("f")}
	for range 1025 {
		fields = append(fields, part)
	}
	lim := DefaultLimits()
	if s.Append(StreamID{1, 1}, fields, &lim) || s.Len() != 0 {
		t.Error("the entry was added")
	}
}

// A million entries of two short fields: redis-server 7.0.15 needs 27 bytes of memory for each
// of them.
func TestAShortEntryTakesFewBytes(t *testing.T) {
	const n, most = 100_000, 24 // bytes
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	lim, before := DefaultLimits(), heap()
	s := &Stream{}
	for i := range n {
		value := []byte(strconv.Itoa(i))
		id := StreamID{MS: 1_700_000_000_000 + uint64(i/3), Seq: uint64(i % 3)}
		s.Append(id, [][]byte{[]byte("name"), value, []byte("other"), value}, &lim)
	}
	if used := heap() - before; used > n*most {
		t.Errorf("an entry takes %d bytes", used/n)
	}
	runtime.KeepAlive(s)
}

func TestAStreamReadsBackwardsWhatItReadsForwards(t *testing.T) {
	const most = 1<<64 - 1
	ids := []StreamID{
		{0, 1}, {0, 200}, {1, 0}, {1, most}, {2, 0}, {1 << 40, 7}, {1 << 40, 8}, {most, 0}, {most, most},
	}
	sizes := []int{0, 1, 100, 122, 123, 124, 125, 126, 127, 128, 129, 300, 16_000, 16_380, 16_384, 70_000}
	for shift := range sizes {
		var s Stream
		var forwards, back []StreamID
		for i, id := range ids {
			name := []byte{'a' + byte(i/3)} // not always the name of the chunk's first entry
			value := make([]byte, sizes[(i+shift)%len(sizes)])
			if !s.Append(id, [][]byte{name, value}, &Limits{}) {
				t.Fatalf("entry %v is too large", id)
			}
		}
		s.Delete(ids[shift%len(ids)])
		if err := s.check(); err != nil {
			t.Fatal(err)
		}
		s.Range(StreamID{}, MaxStreamID, false, func(e StreamEntry) bool {
			forwards = append(forwards, e.ID)
			return true
		})
		s.Range(StreamID{}, MaxStreamID, true, func(e StreamEntry) bool {
			back = append(back, e.ID)
			return true
		})
		slices.Reverse(back)
		if !slices.Equal(forwards, back) || len(back) != len(ids)-1 {
			t.Errorf("%v forwards, %v backwards", forwards, back)
		}
	}
}
