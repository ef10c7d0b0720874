package server

import (
	"sync"
	"time"
)

// timers are calls that are made later. The zero value is ready.
type timers struct {
	mu      sync.Mutex // guards the fields below
	running map[*time.Timer]struct{}
	closed  bool
	done    sync.WaitGroup // timers that have not fired, and calls under way
}

// after calls do in a goroutine of its own after d, unless close is called before.
func (t *timers) after(d time.Duration, do func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return
	}
	if t.running == nil {
		t.running = map[*time.Timer]struct{}{}
	}
	t.done.Add(1)
	var timer *time.Timer
	timer = time.AfterFunc(d, func() {
		defer t.done.Done()
		t.mu.Lock()
		delete(t.running, timer)
		t.mu.Unlock()
		do()
	})
	t.running[timer] = struct{}{}
}

// close stops all timers and waits for the calls under way.
func (t *timers) close() {
	t.mu.Lock()
	t.closed = true
	for timer := range t.running {
		if timer.Stop() {
			t.done.Done()
		}
	}
	t.mu.Unlock()
	t.done.Wait()
}
