package server

import (
	"runtime"
	"testing"
)

func TestTheProcessMemoryIsTheLeastKnownLimit(t *testing.T) {
	for want, limits := range map[int64][]int64{0: {0, 0}, 3: {5, 3, 0}, 4: {4, 0, 9}, 7: {0, 7}} {
		if got := leastKnown(limits...); got != want {
			t.Errorf("leastKnown of %d is %d, want %d", limits, got, want)
		}
	}
}

func TestTheFiguresOfTheProcessAgree(t *testing.T) {
	kept := make([]byte, 64<<20)
	m := processMemoryFigures()
	if m.Heap < int64(len(kept)) || m.Active < m.Heap || m.Resident < m.Active || m.Process <= 0 {
		t.Fatalf("%+v", m)
	}
	runtime.KeepAlive(kept)
}

func TestEndSleepEndsASleep(t *testing.T) {
	h := (*host)(newTestServer(t))
	h.EndSleep() // nothing sleeps: it has no effect on a later sleep
	h.Sleep(1)
	over := make(chan struct{})
	go func() {
		h.Sleep(1e12)
		close(over)
	}()
	for {
		select {
		case <-over:
			return
		default:
			h.EndSleep()
			runtime.Gosched()
		}
	}
}
