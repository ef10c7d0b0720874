package hll

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// filled returns a sketch of n elements, and how many additions changed it.
func filled(t testing.TB, n, limit int) (s Sketch, changes int) {
	t.Helper()
	s = New()
	for i := range n {
		changed, err := s.Add(fmt.Appendf(nil, "element %d", i), limit)
		if err != nil {
			t.Fatal(err)
		}
		if changed {
			changes++
		}
	}
	return s, changes
}

// The bytes are redis-server 7.0.15's after PFADD h a b c.
func TestAdditionsMakeTheBytesOfRedis(t *testing.T) {
	s := New()
	for _, element := range []string{"a", "b", "c", "a"} {
		if _, err := s.Add([]byte(element), 3000); err != nil {
			t.Fatal(err)
		}
	}
	const want = "48594c4c010000000000000000000080" + "60f38050b1844bfb80425a"
	if got := hex.EncodeToString(s); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if n, err := s.Count(); n != 3 || err != nil {
		t.Errorf("it counts %d (%v)", n, err)
	}
}

func TestBothEncodingsHaveTheSameRegisters(t *testing.T) {
	for _, n := range []int{0, 1, 10, 200, 800, 5000} {
		few, changes := filled(t, n, 1<<20)
		many, others := filled(t, n, 0)
		if n > 0 && (few.Dense() || !many.Dense()) || changes != others {
			t.Fatalf("%d elements: dense is %v and %v, %d and %d changes",
				n, few.Dense(), many.Dense(), changes, others)
		}
		a, errA := few.Count()
		b, errB := many.Count()
		if a != b || errA != nil || errB != nil {
			t.Errorf("%d elements count %d and %d (%v, %v)", n, a, b, errA, errB)
		}
		if few.ToDense() != nil || many.ToDense() != nil ||
			!bytes.Equal(few[headerSize:], many[headerSize:]) {
			t.Errorf("%d elements: the registers differ", n)
		}
	}
}

func TestASparseSketchBecomesDenseAtItsLimit(t *testing.T) {
	for _, limit := range []int{0, 30, 100, 3000} {
		s := New()
		for i := 0; !s.Dense(); i++ {
			if len(s) > max(limit, len(New())) {
				t.Fatalf("limit %d: it has %d bytes", limit, len(s))
			}
			if _, err := s.Add(fmt.Append(nil, i), limit); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Raise searches from where it found the register before. Its bytes must be the same as after a search
// from the first run each time, even where runs merge.
func TestRaiseMakesTheBytesOfSingleChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.IntRange(0, registers-300).Draw(t, "from")
		draw := func(name string) *Registers {
			var r Registers
			for range rapid.IntRange(0, 120).Draw(t, name) {
				i := from + rapid.IntRange(0, 250).Draw(t, "register")
				r[i] = rapid.SampledFrom([]byte{1, 2, 2, 2, 3, 3, 32, 33}).Draw(t, "value")
			}
			return &r
		}
		limit := rapid.SampledFrom([]int{60, 200, 1 << 20}).Draw(t, "limit")
		at, one := New(), New()
		for _, name := range []string{"first", "second"} {
			r := draw(name)
			at.Raise(r, limit)
			for i, value := range r {
				if value > 0 {
					if _, err := one.set(&position{}, i, value, limit); err != nil {
						t.Fatal(err)
					}
				}
			}
			one.Invalidate()
			if !bytes.Equal(at, one) {
				t.Fatalf("%s registers:\n%x\n%x", name, at, one)
			}
		}
		var back Registers
		if err := back.Merge(at); err != nil {
			t.Fatal(err)
		}
		n, err := at.Count()
		if want := back.Count(); n != want || err != nil {
			t.Fatalf("the sketch counts %d (%v), its registers count %d", n, err, want)
		}
	})
}

// TestEstimatesAreNearTheTruth adds many elements to a sketch of each encoding. The registers
// are equal, and no estimate is further from the truth than six standard errors.
func TestEstimatesAreNearTheTruth(t *testing.T) {
	few, many := New(), New()
	if err := many.ToDense(); err != nil {
		t.Fatal(err)
	}
	standardError := 1.04 / math.Sqrt(registers)
	const elements = 50_000
	check := 1
	for n := 1; n <= elements; n++ {
		element := binary.BigEndian.AppendUint64(nil, uint64(n))
		for _, s := range []*Sketch{&few, &many} {
			if _, err := s.Add(element, 3000); err != nil {
				t.Fatal(err)
			}
		}
		if n < check && n < elements {
			continue
		}
		check *= 10
		estimate, err := many.Count()
		if wrong := math.Abs(float64(estimate) - float64(n)); err != nil || wrong > 6*standardError*float64(n)+1 {
			t.Fatalf("%d elements are estimated as %d (%v)", n, estimate, err)
		}
		if other, err := few.Count(); err != nil || other != estimate {
			t.Fatalf("%d elements are %d in the other encoding (%v)", n, other, err)
		}
	}
}

func TestTheCachedCardinalityIsValidUntilARegisterChanges(t *testing.T) {
	s, _ := filled(t, 100, 3000)
	if _, ok := s.Cached(); ok {
		t.Error("a changed sketch has a valid cardinality")
	}
	s.Cache(100)
	if _, err := s.Add([]byte("element 1"), 3000); err != nil {
		t.Fatal(err)
	}
	if n, ok := s.Cached(); n != 100 || !ok {
		t.Errorf("after an element that was there the cache is %d, %v", n, ok)
	}
	if err := s.ToDense(); err != nil {
		t.Fatal(err)
	}
	if n, ok := s.Cached(); n != 100 || !ok {
		t.Errorf("after ToDense the cache is %d, %v", n, ok)
	}
}

// Any bytes behind the header may come from a client.
func FuzzCorruptSketchesAreRefusedWithoutPanic(f *testing.F) {
	f.Add([]byte("\x7f\xff"), []byte("a"), 3000)
	f.Add([]byte("\x7f"), []byte("a"), 0)
	f.Add([]byte("\xff\x83\x00\x40"), []byte("b"), 100)
	f.Fuzz(func(t *testing.T, body, element []byte, limit int) {
		s := append(New()[:headerSize], body...)
		if _, err := s.Count(); err == nil {
			var r Registers
			if err := r.Merge(s); err != nil {
				t.Fatalf("Count takes it, Merge returns %v", err)
			}
		}
		s.EachRun(func(int, byte, bool) {})
		for range 3 {
			if _, err := s.Add(element, limit); err != nil {
				break
			}
			element = append(element, 'x')
		}
		other := New()
		if _, err := other.Add(element, 3000); err != nil {
			t.Fatal(err)
		}
		var r Registers
		if r.Merge(other) != nil {
			t.Fatal("a sketch without faults is corrupt")
		}
		s.Raise(&r, limit)
		if err := s.ToDense(); err == nil && len(s) != denseSize {
			t.Fatalf("a dense sketch has %d bytes", len(s))
		}
	})
}
