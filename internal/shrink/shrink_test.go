package shrink

import (
	"runtime"
	"testing"
)

// heapOf returns the bytes of the heap that build's result keeps.
func heapOf[T any](build func() T) int64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	kept := build()
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(kept)
	return int64(after.HeapAlloc) - int64(before.HeapAlloc)
}

func TestAMapThatWasLargeGivesItsMemoryBack(t *testing.T) {
	const n = 100_000
	for _, left := range []int{0, 1, 100} {
		peak := 0
		m := map[int]int{}
		kept := heapOf(func() map[int]int {
			for i := range n {
				m[i] = -i
			}
			for i := left; i < n; i++ {
				Delete(&m, i, &peak)
			}
			return m
		})
		if kept > 64<<10 {
			t.Errorf("%d entries keep %d bytes", left, kept)
		}
		if len(m) != left {
			t.Errorf("%d entries, want %d", len(m), left)
		}
		for i := range left {
			if m[i] != -i {
				t.Errorf("entry %d is %d", i, m[i])
			}
		}
	}
}

func TestASmallMapIsNotCopied(t *testing.T) {
	m, peak := map[int]int{}, 0
	allocs := testing.AllocsPerRun(100, func() {
		for i := range least / 4 {
			m[i] = i
		}
		for i := range least / 4 {
			Delete(&m, i, &peak)
		}
	})
	if allocs > 0 {
		t.Errorf("%v allocations", allocs)
	}
	m[1] = 1
	Delete(&m, 2, &peak) // is not there
	if len(m) != 1 {
		t.Error("an absent key deletes another")
	}
}

func TestASliceThatWasLargeGivesItsMemoryBack(t *testing.T) {
	const n, left = 100_000, 100
	var s []string
	kept := heapOf(func() []string {
		for i := range n {
			s = append(s, string(rune('a'+i%26))+"x")
		}
		for len(s) > left {
			s = Pop(s)
		}
		return s
	})
	if kept > 64<<10 {
		t.Errorf("%d bytes kept", kept)
	}
	for i := range left {
		if s[i] != string(rune('a'+i%26))+"x" {
			t.Errorf("element %d is %q", i, s[i])
		}
	}
	s = Pop(append(s, "gone"))
	if got := s[:left+1][left]; got != "" {
		t.Errorf("%q is kept behind the end", got)
	}
}
