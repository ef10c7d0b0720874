package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"
)

// crowd says which waiters one cell of the hand-over table has.
type crowd struct {
	waiters int
	apart   bool // each waiter has a client of its own, as in a process of its own
	grants  int
	hold    func() time.Duration // how long each holder keeps the lock
}

// holdTime is long enough for the last holder to wait for the lock again. It is random,
// so that polls and unlocks do not have a common rhythm.
func holdTime() time.Duration { return 10*time.Millisecond + rand.N(20*time.Millisecond) }

// handOver is the time from the call of unlock to the next holder's grant.
type handOver struct {
	crowd
	timing
	used    usage // for each hand-over and the hold before it
	done    int   // number of hand-overs
	stalled bool  // no waiter got the lock in time, and the cell ended there
}

// stall is how long the waiters may take to get the lock after an unlock.
const stall = 20 * time.Second

var errStalled = errors.New("no waiter gets the lock")

// actor is a goroutine that waits for the lock, holds it, and waits again.
type actor struct {
	c       client
	release chan struct{} // allows the actor to unlock
	again   chan struct{} // allows the actor to wait again, after another actor got the lock
}

// grant reports that an actor has the lock.
type grant struct {
	by *actor
	at time.Time
}

// play is a run of actors.
type play struct {
	grants   chan grant
	unlocked chan time.Time // the time at which unlock was called
	failed   chan error     // the first failure
}

// measureHandOver measures c.grants hand-overs. One actor holds the lock while all other
// actors wait for it. An actor that has unlocked waits until another actor has the lock.
// Otherwise an actor of a library that polls would mostly get the lock again itself.
func measureHandOver(ctx context.Context, srv *server, l library, c crowd) (handOver, error) {
	actors, closeAll, err := cast(l, srv.addr, c)
	defer closeAll()
	if err != nil {
		return handOver{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	p := &play{make(chan grant), make(chan time.Time, 1), make(chan error, 1)}
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	for _, a := range actors {
		running.Go(func() { p.act(ctx, a) })
	}
	// After a second all actors wait, longer than any pause between polls.
	g, err := p.granted()
	if err != nil {
		return handOver{}, err
	}
	time.Sleep(time.Second)
	took := make([]time.Duration, 0, c.grants)
	before := srv.usage()
	for range c.grants {
		time.Sleep(c.hold())
		g.by.release <- struct{}{}
		next, err := p.granted()
		if errors.Is(err, errStalled) && len(took) > 0 {
			return handOver{c, timingOf(took), usage{}, len(took), true}, nil
		}
		if err != nil {
			return handOver{}, err
		}
		took = append(took, next.at.Sub(<-p.unlocked))
		g.by.again <- struct{}{}
		g = next
	}
	used := srv.usage().since(before).each(c.grants)
	return handOver{c, timingOf(took), used, len(took), false}, nil
}

// cast opens the clients. The returned function closes them.
func cast(l library, addr string, c crowd) ([]*actor, func(), error) {
	var actors []*actor
	var opened []client
	closeAll := func() {
		for _, c := range opened {
			c.close()
		}
	}
	for i := range c.waiters + 1 {
		if i == 0 || c.apart {
			c, err := l.open(addr)
			if err != nil {
				return nil, closeAll, err
			}
			opened = append(opened, c)
		}
		actors = append(actors, &actor{opened[len(opened)-1], make(chan struct{}), make(chan struct{})})
	}
	return actors, closeAll, nil
}

// act locks and unlocks until ctx ends.
func (p *play) act(ctx context.Context, a *actor) {
	for ctx.Err() == nil {
		unlock, err := a.c.lock(ctx, "bench")
		at := time.Now()
		if err != nil {
			p.fail(ctx, err)
			return
		}
		if tell(ctx, p.grants, grant{a, at}) {
			await(ctx, a.release)
		}
		began := time.Now()
		// The unlock must not end with the run's context: it would leave the lock locked.
		if err := unlock(context.WithoutCancel(ctx)); err != nil {
			p.fail(ctx, err)
			return
		}
		if !tell(ctx, p.unlocked, began) {
			return
		}
		await(ctx, a.again)
	}
}

func (p *play) fail(ctx context.Context, err error) {
	if ctx.Err() == nil {
		select {
		case p.failed <- err:
		default:
		}
	}
}

func (p *play) granted() (grant, error) {
	select {
	case g := <-p.grants:
		return g, nil
	case err := <-p.failed:
		return grant{}, err
	case <-time.After(stall):
		return grant{}, errStalled
	}
}

// tell sends v unless ctx ends first.
func tell[T any](ctx context.Context, to chan<- T, v T) bool {
	select {
	case to <- v:
		return true
	case <-ctx.Done():
		return false
	}
}

// await receives a value unless ctx ends first.
func await(ctx context.Context, from <-chan struct{}) {
	select {
	case <-from:
	case <-ctx.Done():
	}
}
