package heapsize

import (
	"runtime"
	"testing"
)

func TestSizesAreThoseOfGosAllocator(t *testing.T) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	last := 0
	for _, class := range m.BySize[1:] {
		size := int(class.Size)
		if got, next := Class(size), Class(last+1); got != size || next != size {
			t.Errorf("%d bytes take %d, %d take %d, want %d", size, got, last+1, next, size)
		}
		last = size
	}
	for _, n := range []int{0, 1, 7, 100, 1025, 3000, 9000, 27000, 32768, 32769, 1 << 20, 1<<20 + 1} {
		if got, want := Class(n), cap(append([]byte(nil), make([]byte, n)...)); got != want {
			t.Errorf("%d bytes take %d, want %d", n, got, want)
		}
	}
}
