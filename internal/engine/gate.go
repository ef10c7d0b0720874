package engine

import (
	"slices"
	"sync"
	"sync/atomic"
)

// gate is the engine's lock and the line in front of it. A caller that finds it
// held leaves its unit in the line, and the holder runs the units that stand there
// before it lets go. So nobody overtakes, and under load the engine's memory
// stays in one core's cache, while the other cores read and write sockets.
type gate struct {
	state atomic.Int32

	mu          sync.Mutex // guards the line
	first, last *Caller
}

// The states of a gate. A line is only joined and only left under mu.
const (
	free int32 = iota
	held
	lined // held, and somebody stands in line
)

// combine is how many units of others a holder runs before the next in line has
// to go on by itself: the holder's own reply waits for them.
const combine = 64

// flushInOrder is how many connections Flush writes to in order.
const flushInOrder = 16

// Caller is a goroutine's way into the engine. It is used for one Do at a time.
type Caller struct {
	// Replace lets this goroutine run the units of others. One of them may be
	// a long script: then Replace is called, once, and starts a goroutine that
	// goes on in this one's place with a Caller of its own, while this one's
	// Do returns true in the end. Where Replace is nil the goroutine runs its
	// own unit only.
	Replace func()
	// Shared says that the goroutine serves many connections, so that it is to
	// be replaced as well when a script of its own unit has become busy.
	Shared bool

	// Deferred leaves it to the goroutine to call Flush after a few Do.
	Deferred bool

	replaced bool

	unit  func()
	flush []Flusher // connections that have output
	timer bool      // the timer's: its unit never runs halfway through a script

	readied bool // see Readied

	next  *Caller       // in line
	holds bool          // it got the lock: unit is still to be run
	woken chan struct{} // capacity 1
}

// Flush writes what units have queued, as far as the sockets take it. The first few
// connections are written in order, so a waiter gets the unlock's message before
// the unlocker gets its reply. The rest are written last first, as in Redis 7.0: a
// client that publishes to a thousand subscribers has its reply early, and sends its
// next command while they are written.
func (c *Caller) Flush() {
	few := min(len(c.flush), flushInOrder)
	for _, f := range c.flush[:few] {
		f.Flush()
	}
	for _, f := range slices.Backward(c.flush[few:]) {
		f.Flush()
	}
	clear(c.flush)
	c.flush = c.flush[:0]
}

// Readied reports whether goroutines were made runnable by this one's Do since
// the last call.
func (c *Caller) Readied() bool {
	readied := c.readied
	c.readied = false
	return readied
}

// enter takes the lock and returns true, or has the holder run c's unit and
// returns false.
func (g *gate) enter(c *Caller) bool {
	return g.state.CompareAndSwap(free, held) || g.waitInLine(c)
}

func (g *gate) waitInLine(c *Caller) bool {
	g.mu.Lock()
	for !g.state.CompareAndSwap(held, lined) && g.state.Load() != lined {
		if g.state.CompareAndSwap(free, held) {
			g.mu.Unlock()
			return true
		}
	}
	if c.woken == nil {
		c.woken = make(chan struct{}, 1)
	}
	c.next, c.holds = nil, false
	if g.first == nil {
		g.first = c
	} else {
		g.last.next = c
	}
	g.last = c
	g.mu.Unlock()
	<-c.woken
	return c.holds
}

// leave takes the first out of the line, for whom the caller still holds the
// lock, or gives the lock up and returns nil.
func (g *gate) leave() *Caller {
	if g.state.CompareAndSwap(held, free) {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.first
	if g.first = c.next; g.first == nil {
		g.last = nil
		g.state.Store(held)
	}
	return c
}

// leaveAtSafePoint takes the first out of the line whose unit may run halfway
// through a script, or returns nil.
func (g *gate) leaveAtSafePoint() *Caller {
	if g.state.Load() != lined {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	var before *Caller
	c := g.first
	for c != nil && c.timer {
		before, c = c, c.next
	}
	if c == nil {
		return nil
	}
	if before == nil {
		g.first = c.next
	} else {
		before.next = c.next
	}
	if g.last == c {
		g.last = before
	}
	if g.first == nil {
		g.state.Store(held)
	}
	return c
}
