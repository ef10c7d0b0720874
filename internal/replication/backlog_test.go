package replication

import (
	"bytes"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
)

// plain is a backlog that keeps the whole stream.
type plain struct {
	stream []byte
	start  int64 // the stream's offset before its first byte
	kept   int64
	size   int64
}

func (p *plain) end() int64 { return p.start + int64(len(p.stream)) }

func (p *plain) add(b []byte) {
	p.stream = append(p.stream, b...)
	p.kept = min(p.size, p.kept+int64(len(b)))
}

func (p *plain) resize(size int64) { p.size, p.kept = size, min(size, p.kept) }

func (p *plain) from(first int64) ([]byte, bool) {
	if first <= p.end()-p.kept || first > p.end()+1 {
		return nil, false
	}
	return p.stream[first-1-p.start:], true
}

func TestABacklogKeepsTheEndOfTheStream(t *testing.T) {
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		size, start := 1+rnd.Int64N(100), rnd.Int64N(1000)
		b, want := newBacklog(size, start), &plain{start: start, size: size}
		for range 200 {
			switch rnd.IntN(20) {
			case 0:
				size = 1 + rnd.Int64N(150)
				b.resize(size)
				want.resize(size)
			default:
				p := make([]byte, rnd.IntN(1+rnd.IntN(200)))
				for i := range p {
					p[i] = byte(rnd.Uint32())
				}
				b.add(p)
				want.add(p)
			}
			if b.end != want.end() || b.kept() != want.kept || b.first() != want.end()-want.kept+1 {
				t.Fatalf("seed %d: end %d, kept %d; want %d, %d",
					seed, b.end, b.kept(), want.end(), want.kept)
			}
			for _, first := range []int64{
				b.first() - 1, b.first(), b.end, b.end + 1, b.end + 2, b.first() + rnd.Int64N(b.kept()+1),
				-1, 0, math.MaxInt64, math.MinInt64,
			} {
				parts, ok := b.from(first)
				rest, wantOK := want.from(first)
				if ok != wantOK || ok && !bytes.Equal(append(bytes.Clone(parts[0]), parts[1]...), rest) {
					t.Fatalf("seed %d: from(%d) is %q %v, want %q %v", seed, first, parts, ok, rest, wantOK)
				}
			}
		}
	}
}

func TestALargeBacklogTakesOnlyWhatItKeeps(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	b := newBacklog(1<<45, 0)
	b.add(make([]byte, 1000))
	b.resize(1 << 50)
	b.add(make([]byte, 1000))
	b.resize(math.MaxInt64)
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 1<<20 || b.kept() != 2000 {
		t.Errorf("%d bytes are kept in %d", b.kept(), took)
	}
}
