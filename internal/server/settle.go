package server

import "sync"

// wakes counts the connections that Wake told to go on and that have not yet
// run what they had buffered.
type wakes struct {
	mu    sync.Mutex // guards count
	cond  sync.Cond  // signalled when count becomes 0
	count int
}

func (w *wakes) init() { w.cond.L = &w.mu }

func (w *wakes) add(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.count += n
	if w.count == 0 {
		w.cond.Broadcast()
	}
}

// Settle waits until every connection that was woken, because its blocking
// command ended or a pause did, has run the commands that were waiting behind.
// It is not called inside the engine.
func (s *Server) Settle() {
	s.wakes.mu.Lock()
	defer s.wakes.mu.Unlock()
	for s.wakes.count > 0 {
		s.wakes.cond.Wait()
	}
}
