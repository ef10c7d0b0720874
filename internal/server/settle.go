package server

import (
	"sync"
	"sync/atomic"
)

// wake records whether a connection was told to run its buffered commands, because its
// session is no longer Waiting or Postponed.
//
//	         set             begin              end
//	asleep -------> woken ----------> running -------> asleep
//	                  ^                  | set
//	                  |       end        v
//	                  +------------- wokenAgain
//
//	any of them --- abandon --> asleep: the connection has ended
//
// set may be called from any goroutine, the other methods from the link's. The
// state is atomic, because the link reads it without a lock.
type wake struct {
	state   atomic.Int32
	pending *pendingWakes // counts the connections that are not asleep
}

const (
	asleep int32 = iota
	woken
	running
	wokenAgain
)

// move changes the state by a table from the old state to the new one.
func (w *wake) move(to [4]int32) (was int32) {
	for {
		was = w.state.Load()
		if w.state.CompareAndSwap(was, to[was]) {
			break
		}
	}
	if asleepBefore, asleepNow := was == asleep, to[was] == asleep; asleepBefore != asleepNow {
		if asleepNow {
			w.pending.add(-1)
		} else {
			w.pending.add(1)
		}
	}
	return was
}

// set wakes the connection.
func (w *wake) set() { w.move([4]int32{woken, woken, wokenAgain, wokenAgain}) }

// begin reports whether the connection was woken. The link then runs the buffered
// commands and calls end.
func (w *wake) begin() bool {
	was := w.move([4]int32{asleep, running, running, running})
	return was == woken || was == wokenAgain
}

// end records that the buffered commands have run, or that the session is Waiting or
// Postponed again.
func (w *wake) end() {
	if w.state.Load() != asleep {
		w.move([4]int32{asleep, woken, asleep, woken})
	}
}

// abandon records that no buffered command will run any more.
func (w *wake) abandon() { w.move([4]int32{}) }

// isSet reports whether begin would find the connection woken.
func (w *wake) isSet() bool {
	state := w.state.Load()
	return state == woken || state == wokenAgain
}

// pendingWakes counts the connections that were woken and have not yet run their
// buffered commands.
type pendingWakes struct {
	mu    sync.Mutex // guards count
	cond  sync.Cond  // signalled when count becomes 0
	count int
}

func (p *pendingWakes) init() { p.cond.L = &p.mu }

func (p *pendingWakes) add(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count += n
	if p.count == 0 {
		p.cond.Broadcast()
	}
}

// Settle waits until every woken connection has run its buffered commands. A
// connection is woken when its blocking command ends, or a pause does. It is not
// called inside the engine.
func (s *Server) Settle() {
	s.wakes.mu.Lock()
	defer s.wakes.mu.Unlock()
	for s.wakes.count > 0 {
		s.wakes.cond.Wait()
	}
}
