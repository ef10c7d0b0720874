package engine

import (
	"sync"
	"sync/atomic"
)

// gate is the engine's lock, a combining lock. A caller that finds it held joins
// a queue, and the holder runs the queued callers' units before it releases the lock.
// No caller overtakes another caller, so no event waits long. Under load the engine's memory
// stays in one core's cache, while the other cores read and write sockets. With 50 connections
// at pipeline 16 on two cores that brought 30 % over a mutex.
//
// While a script overruns busy-reply-threshold, its safe points run the queued units (see
// scriptRun). The reading of a file has safe points, too: there commands answer -LOADING.
// A goroutine that a long script keeps is replaced by a new one, see Caller.Replace.
//
// The states of the gate:
//
//	       enter               enter by another caller
//	free --------> held -----------------------------------> queued
//	     <--------      <-----------------------------------
//	      release         release, or leaveAtSafePoint, takes
//	                      the last caller out of the queue
//
// The states of a caller:
//
//	            enter: the gate is free
//	outside ---------------------------------------> holder --+
//	   |  ^                                            ^      | release
//	   |  |                                            |      v
//	   |  +--------------------------------------------|--- outside
//	   |  |  served: the holder ran its unit           |
//	   v  |                                            |
//	  queued ------------------------------------------+
//	            promoted: the holder hands the gate over
type gate struct {
	state atomic.Int32 // free, held or queued

	mu          sync.Mutex // guards the queue, and changes from and to queued
	first, last *Caller
}

// The states of a gate. The state is atomic, so that a free gate is entered without mu.
const (
	free   int32 = iota
	held         // a caller holds it, and the queue is empty
	queued       // a caller holds it, and others are in the queue
)

// enter takes the lock and returns true, or waits until the holder has run c's
// unit and returns false.
func (g *gate) enter(c *Caller) (holds bool) {
	return g.state.CompareAndSwap(free, held) || g.wait(c)
}

// wait joins the queue and waits, or takes the lock if it is free by now.
func (g *gate) wait(c *Caller) (holds bool) {
	g.mu.Lock()
	for !g.state.CompareAndSwap(held, queued) && g.state.Load() != queued {
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

// served ends the wait of a caller. The holder has run its unit.
func (c *Caller) served() { c.woken <- struct{}{} }

// promote ends the wait of a caller and gives it the lock.
func (c *Caller) promote() {
	c.holds = true
	c.woken <- struct{}{}
}

// release releases the lock and returns nil if the queue is empty. Otherwise it takes the
// first caller out of the queue, and the lock stays held: the holder runs that caller's
// unit or promotes it.
func (g *gate) release() *Caller {
	if g.state.CompareAndSwap(held, free) {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.take(nil)
}

// leaveAtSafePoint takes the first caller out of the queue that is no background caller:
// its unit may run halfway through a script or a load. It returns nil when there is none.
func (g *gate) leaveAtSafePoint() *Caller {
	if g.state.Load() != queued {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	var before *Caller
	for c := g.first; c != nil; before, c = c, c.next {
		if !c.background {
			return g.take(before)
		}
	}
	return nil
}

// take takes the caller after before out of the queue, or the first caller if before is
// nil. There must be such a caller. g.mu is held.
func (g *gate) take(before *Caller) *Caller {
	link := &g.first
	if before != nil {
		link = &before.next
	}
	c := *link
	*link = c.next
	if g.last == c {
		g.last = before
	}
	if g.first == nil {
		g.state.Store(held)
	}
	return c
}
