package hub

import (
	"context"
	"sync"
	"time"

	"github.com/lockredis/lockredis/rlock/internal/retry"
)

// feed has the topics of one server and keeps a pub/sub connection to it. Its
// goroutine (run) connects, subscribes and unsubscribes. Another goroutine receives.
// A feed ends when it has had no topics for feedIdleTimeout.
type feed struct {
	hub *Hub

	addr      string // in hub.feeds
	node      Subscriber
	topics    map[*topic]bool
	idleSince time.Time // when the last topic left
	dirty     []string  // channels whose subscription may have to change
	misplaced bool      // a topic's slot may be on another master
	verify    bool      // onReconnect must be called when the feed is connected

	wakeup chan struct{} // capacity 1: the fields above have changed
}

// feedIdleTimeout is how long a connection without topics stays open.
const feedIdleTimeout = time.Second

// changed makes run look at channel's subscription.
func (f *feed) changed(channel string) {
	f.dirty = append(f.dirty, channel)
	select {
	case f.wakeup <- struct{}{}:
	default:
	}
}

// run connects, and connects again when the connection breaks, until the hub is
// closed or the feed has no topics. The first attempt after a connection that lasted
// is made at once.
func (f *feed) run() {
	h := f.hub
	for failures := 0; h.ctx.Err() == nil; failures++ {
		if failures > 0 {
			h.nodes.Reload(h.ctx)
			if failures > 1 {
				retry.Sleep(h.ctx, f.pause(failures))
			}
			f.replace()
			if h.ctx.Err() != nil || f.endIfIdle(0) {
				return
			}
			h.mu.Lock()
			f.verify = true
			h.mu.Unlock()
		}
		c, err := f.connectAgain(failures)
		if err != nil {
			f.deny(err)
			continue
		}
		connected := time.Now()
		idle := f.serve(c)
		c.close()
		if idle {
			return
		}
		if time.Since(connected) > feedIdleTimeout {
			failures = 0
		}
	}
}

// failoverPause is how long a feed of a cluster waits at most before it looks for a
// new master. It is not much longer than go-redis's pause between two loads of the
// slot map, 200 ms.
const failoverPause = 250 * time.Millisecond

// pause returns how long to wait after n failed attempts to connect.
func (f *feed) pause(n int) time.Duration {
	if f.hub.perNode() {
		return min(retry.Backoff(n), failoverPause)
	}
	return retry.Backoff(n)
}

// connectAgain is connect after a number of failures. While a cluster's node hangs,
// the topics move to the node's successor.
func (f *feed) connectAgain(failures int) (*connection, error) {
	if failures == 0 || !f.hub.perNode() {
		return f.connect()
	}
	ctx, connected := context.WithCancel(f.hub.ctx)
	var moving sync.WaitGroup
	moving.Go(func() {
		for ctx.Err() == nil {
			retry.Sleep(ctx, failoverPause)
			f.hub.nodes.Reload(f.hub.ctx)
			f.replace()
		}
	})
	defer moving.Wait()
	defer connected()
	return f.connect()
}

// connect opens a connection and subscribes to the channels of all topics.
func (f *feed) connect() (*connection, error) {
	h := f.hub
	h.mu.Lock()
	f.dirty = nil
	for t := range f.topics {
		f.dirty = append(f.dirty, t.name)
	}
	on := f.node
	h.mu.Unlock()
	c := newConnection(f, on)
	err := c.change(h.ctx)
	if err == nil && len(c.channels) == 0 { // only watched keys: any command makes go-redis connect
		err = c.ps.Ping(h.ctx)
	}
	if err != nil {
		c.ps.Close()
		return nil, err
	}
	go c.receive()
	return c, nil
}

// deny tells all topics why the server refused the connection, see topic.deny.
func (f *feed) deny(reason error) {
	f.hub.mu.Lock()
	defer f.hub.mu.Unlock()
	for t := range f.topics {
		t.deny(reason)
	}
}

// serve changes subscriptions until the connection breaks or the hub is closed. It
// returns true when the feed has ended because it has no topics.
func (f *feed) serve(c *connection) bool {
	tick := time.NewTicker(feedIdleTimeout)
	defer tick.Stop()
	for {
		f.catchUp()
		if err := c.change(f.hub.noDial); err != nil {
			return false
		}
		select {
		case <-f.hub.ctx.Done():
			return false
		case <-c.ended:
			return false
		case <-f.wakeup:
		case <-tick.C:
			if f.endIfIdle(feedIdleTimeout) {
				return true
			}
			f.lookForMove()
			f.replace() // a master may have become a replica
		}
	}
}

// moveTimeout is for how long after a slot moved its new owner may not be known to the nodes from
// which go-redis loads the slot map.
const moveTimeout = 15 * time.Second

// lookForMove makes the slot map be loaded again if a slot moved lately.
func (f *feed) lookForMove() {
	f.hub.mu.Lock()
	moved := f.hub.slotMoved
	f.hub.mu.Unlock()
	if time.Since(moved) < moveTimeout {
		f.hub.nodes.Reload(f.hub.ctx)
	}
}

// catchUp calls onReconnect if the feed was connected again, and finds the master of
// misplaced topics.
func (f *feed) catchUp() {
	h := f.hub
	h.mu.Lock()
	verify, misplaced := f.verify, f.misplaced
	f.verify, f.misplaced = false, false
	h.mu.Unlock()
	if verify && h.onReconnect != nil {
		h.onReconnect()
	}
	if misplaced {
		f.replace()
	}
}

// endIfIdle removes the feed from the hub if it has had no topics for limit. It
// reports whether it did.
func (f *feed) endIfIdle(limit time.Duration) bool {
	f.hub.mu.Lock()
	defer f.hub.mu.Unlock()
	if len(f.topics) > 0 || time.Since(f.idleSince) < limit {
		return false
	}
	delete(f.hub.feeds, f.addr)
	return true
}

// replace gives the topics whose slot is on another master to that master's feed. A
// topic whose master is not known stays.
func (f *feed) replace() {
	h := f.hub
	if !h.perNode() {
		return
	}
	h.mu.Lock()
	topics := make([]*topic, 0, len(f.topics))
	for t := range f.topics {
		topics = append(topics, t)
	}
	h.mu.Unlock()
	for _, t := range topics {
		h.placeOn(t, false)
	}
}

// refuse makes run subscribe to t again after a pause. Until then go-redis has loaded
// the slot map.
func (f *feed) refuse(t *topic, reason error) {
	t.deny(reason)
	f.hub.nodes.Reload(f.hub.ctx)
	t.refusals++
	time.AfterFunc(retry.Backoff(t.refusals+1), func() { // retry.Backoff(1) is 0
		f.hub.mu.Lock()
		defer f.hub.mu.Unlock()
		f.misplaced = true
		f.changed(t.name)
	})
}
