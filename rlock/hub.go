package rlock

import (
	"errors"
	"maps"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// hub subscribes to each channel that has waiters in this client, and wakes the
// waiters when a message arrives.
//
// Outside a cluster all channels share one connection (a feed). In a cluster each
// channel has its own feed, because sharded messages are published on the node of
// the channel's slot.
type hub struct {
	c *Client

	mu    sync.Mutex // guards feeds, and the fields of feeds, topics and waiters
	feeds map[string]*feed
}

// feed is one pub/sub connection. One goroutine (run) subscribes and unsubscribes,
// another (receive) receives.
type feed struct {
	hub     *hub
	key     string // in hub.feeds: the channel in a cluster, otherwise ""
	ps      *redis.PubSub
	topics  map[string]*topic // by channel
	pending []change          // subscriptions to change, in order
	wakeup  chan struct{}     // capacity 1: pending is not empty
	ended   bool
}

// change is a subscription to begin or to end.
type change struct {
	channel   string
	subscribe bool
}

// topic is one channel and its waiters, in arrival order.
type topic struct {
	feed      *feed
	channel   string
	all       bool // a message wakes all waiters, not only the first
	waiters   []*waiter
	ready     chan struct{} // closed when the subscription is confirmed
	confirmed bool          // ready is closed
}

// waiter is one goroutine that waits on a channel. Messages published before
// topic.ready is closed may be missed.
type waiter struct {
	topic *topic
	wake  chan struct{} // capacity 1
}

func newHub(c *Client) *hub { return &hub{c: c, feeds: map[string]*feed{}} }

// join adds a waiter to channel and subscribes to the channel if it has no topic
// yet. With all, a message wakes every waiter of the channel, otherwise the first.
// It returns ErrClosed when the client is closed.
func (h *hub) join(channel string, all bool) (*waiter, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.topic(channel, all)
	if t == nil {
		return nil, ErrClosed
	}
	w := &waiter{topic: t, wake: make(chan struct{}, 1)}
	t.waiters = append(t.waiters, w)
	return w, nil
}

// topic returns the channel's topic and subscribes if the topic is new. It returns
// nil when the client is closed.
func (h *hub) topic(channel string, all bool) *topic {
	key := ""
	if h.c.topo.sharded {
		key = channel
	}
	f := h.feeds[key]
	if f == nil {
		if f = h.open(key); f == nil {
			return nil
		}
	}
	t := f.topics[channel]
	if t == nil {
		t = &topic{feed: f, channel: channel, all: all, ready: make(chan struct{})}
		f.topics[channel] = t
		f.enqueue(change{channel, true})
	}
	return t
}

// open starts a feed, or returns nil when the client is closed.
func (h *hub) open(key string) *feed {
	f := &feed{hub: h, key: key, topics: map[string]*topic{}, wakeup: make(chan struct{}, 1)}
	f.ps = f.connect()
	if !h.c.goBackground(f.run) {
		f.ps.Close()
		return nil
	}
	h.feeds[key] = f
	return f
}

// leave removes the waiter. A wake-up that it has not used goes to the next waiter.
func (w *waiter) leave() {
	h := w.topic.feed.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	t := w.topic
	t.waiters = slices.DeleteFunc(t.waiters, func(other *waiter) bool { return other == w })
	select {
	case <-w.wake:
		t.wakeFirst()
	default:
	}
	if len(t.waiters) == 0 && t.feed.topics[t.channel] == t {
		delete(t.feed.topics, t.channel)
		t.feed.enqueue(change{t.channel, false})
	}
}

// wakeNext wakes the waiter that arrived after w.
func (w *waiter) wakeNext() {
	h := w.topic.feed.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if i := slices.Index(w.topic.waiters, w) + 1; i < len(w.topic.waiters) {
		w.topic.waiters[i].signal()
	}
}

func (t *topic) wakeFirst() {
	if len(t.waiters) > 0 {
		t.waiters[0].signal()
	}
}

func (t *topic) wakeAll() {
	for _, w := range t.waiters {
		w.signal()
	}
}

func (w *waiter) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (f *feed) enqueue(c change) {
	f.pending = append(f.pending, c)
	select {
	case f.wakeup <- struct{}{}:
	default:
	}
}

// feedIdleTimeout is how long a connection without channels stays open.
const feedIdleTimeout = time.Second

// connect returns a PubSub. go-redis connects at the first subscription.
func (f *feed) connect() *redis.PubSub {
	if f.hub.c.topo.sharded {
		return f.hub.c.rdb.SSubscribe(f.hub.c.ctx)
	}
	return f.hub.c.rdb.Subscribe(f.hub.c.ctx)
}

func (f *feed) pubsub() *redis.PubSub {
	f.hub.mu.Lock()
	defer f.hub.mu.Unlock()
	return f.ps
}

// run changes subscriptions until the client is closed, or the feed has had no
// topics for feedIdleTimeout.
func (f *feed) run() {
	// Receive only after the first subscription: before it, go-redis would connect
	// to any node of a cluster. A new feed always has a pending change.
	<-f.wakeup
	f.applyPending()
	received := make(chan struct{})
	go func() {
		defer close(received)
		f.receive()
	}()
	idle := time.NewTimer(feedIdleTimeout)
	defer idle.Stop()
	for open := true; open; {
		select {
		case <-f.hub.c.ctx.Done():
			open = false
		case <-f.wakeup:
			f.applyPending()
			idle.Reset(feedIdleTimeout)
		case <-idle.C:
			if open = !f.removeIfUnused(); open {
				idle.Reset(feedIdleTimeout)
			}
		}
	}
	f.hub.mu.Lock()
	f.ended = true
	ps := f.ps
	f.hub.mu.Unlock()
	ps.Close()
	<-received
}

// removeIfUnused removes the feed from the hub if it has no topics. It reports
// whether it did.
func (f *feed) removeIfUnused() bool {
	f.hub.mu.Lock()
	defer f.hub.mu.Unlock()
	if len(f.topics) > 0 || len(f.pending) > 0 {
		return false
	}
	delete(f.hub.feeds, f.key)
	return true
}

func (f *feed) applyPending() {
	for {
		f.hub.mu.Lock()
		todo := f.pending
		f.pending = nil
		f.hub.mu.Unlock()
		if len(todo) == 0 {
			return
		}
		for _, c := range todo {
			f.apply(c)
		}
	}
}

// apply sends one change. Errors are ignored: go-redis subscribes to every channel
// again when it reconnects.
func (f *feed) apply(c change) {
	ctx, ps := f.hub.c.ctx, f.pubsub()
	sharded := f.hub.c.topo.sharded
	switch {
	case c.subscribe && sharded:
		_ = ps.SSubscribe(ctx, c.channel)
	case c.subscribe:
		_ = ps.Subscribe(ctx, c.channel)
	case sharded:
		_ = ps.SUnsubscribe(ctx, c.channel)
	default:
		_ = ps.Unsubscribe(ctx, c.channel)
	}
}

// reopen replaces the feed's connection and subscribes to all topics again.
func (f *feed) reopen() {
	f.hub.mu.Lock()
	if f.ended {
		f.hub.mu.Unlock()
		return
	}
	old := f.ps
	f.ps = f.connect()
	channels := slices.Collect(maps.Keys(f.topics))
	f.hub.mu.Unlock()
	old.Close()
	for _, channel := range channels {
		f.apply(change{channel, true})
	}
}

// pingAfter is how long a connection may be silent before receive sends PING.
const pingAfter = 3 * time.Second

// receive wakes waiters until the feed ends. When a PING gets no reply within
// pingAfter, or an error repeats, it reopens the connection.
func (f *feed) receive() {
	silent, failures := 0, 0
	for {
		ps := f.pubsub()
		m, err := ps.ReceiveTimeout(f.hub.c.ctx, pingAfter)
		switch {
		case err == nil:
			silent, failures = 0, 0
			if moved := f.deliver(m); moved {
				f.reopen()
			}
		case f.closed():
			return
		case isTimeout(err) && silent == 0:
			silent++
			_ = ps.Ping(f.hub.c.ctx)
		default: // after the first failure go-redis reconnects by itself
			silent = 0
			failures++
			f.hub.c.reloadTopology(f.hub.c.ctx, err)
			if failures > 1 || isServerError(err) {
				sleep(f.hub.c.ctx, backoff(failures))
				f.reopen()
			}
		}
	}
}

func (f *feed) closed() bool {
	f.hub.mu.Lock()
	defer f.hub.mu.Unlock()
	return f.ended || f.hub.c.ctx.Err() != nil
}

// isServerError reports whether err is an error reply of the server, such as MOVED.
func isServerError(err error) bool {
	var e redis.Error
	return errors.As(err, &e)
}

func isTimeout(err error) bool {
	var e net.Error
	return errors.As(err, &e) && e.Timeout()
}

// deliver wakes the waiters of m's channel. moved is true when the server ended a
// subscription that still has waiters, because its slot moved.
func (f *feed) deliver(m any) (moved bool) {
	f.hub.mu.Lock()
	defer f.hub.mu.Unlock()
	switch m := m.(type) {
	case *redis.Message:
		if t := f.topics[m.Channel]; t != nil {
			t.deliver()
		}
	case *redis.Subscription:
		t := f.topics[m.Channel]
		switch {
		case t == nil:
		case m.Kind == "sunsubscribe" || m.Kind == "unsubscribe":
			return t.confirmed // if not, it ends an earlier topic of the same channel
		case !t.confirmed:
			t.confirmed = true
			close(t.ready)
		default: // reconnected: a message may have been lost
			t.wakeAll()
		}
	}
	return false
}

func (t *topic) deliver() {
	if t.all {
		t.wakeAll()
	} else {
		t.wakeFirst()
	}
}
