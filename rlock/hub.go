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

// hub has one subscription for each channel that somebody of this client waits
// on, and wakes the waiters at its messages.
//
// Outside a cluster all channels share one connection (a feed). In a cluster
// each has a feed of its own, because a channel lives on its slot's node.
type hub struct {
	c *Client

	mu    sync.Mutex // guards feeds, and the feeds' and topics' fields
	feeds map[string]*feed
}

// feed is one pub/sub connection. Its goroutine subscribes and unsubscribes as
// topics come and go; another one receives.
type feed struct {
	hub    *hub
	key    string
	ps     *redis.PubSub
	topics map[string]*topic
	todo   []change
	wakeup chan struct{} // capacity 1: todo is not empty
	ended  bool
}

// change is a subscription to make or to end.
type change struct {
	channel   string
	subscribe bool
}

// topic is one channel and those who wait on it, in the order of their coming.
type topic struct {
	feed    *feed
	channel string
	all     bool // a message wakes all waiters, not the first
	waiters []*waiter
	ready   chan struct{} // closed when the subscription is confirmed
	live    bool          // ready is closed
}

// waiter is one goroutine that waits on a channel. What happened before
// topic.ready was closed may have been missed.
type waiter struct {
	topic *topic
	wake  chan struct{} // capacity 1
}

func newHub(c *Client) *hub { return &hub{c: c, feeds: map[string]*feed{}} }

// join makes the caller wait on channel, and subscribes to it if nobody of this
// client has yet. With all, a message wakes every waiter of the channel;
// otherwise the one that came first.
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

// topic returns the channel's topic, subscribing when it is new.
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
		f.change(change{channel, true})
	}
	return t
}

// open starts a feed.
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

// leave ends a wait. A wake-up that came too late goes to the next.
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
		t.feed.change(change{t.channel, false})
	}
}

// next wakes the waiter that came after w: there may be something for it too.
func (w *waiter) next() {
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

func (f *feed) change(c change) {
	f.todo = append(f.todo, c)
	select {
	case f.wakeup <- struct{}{}:
	default:
	}
}

// linger is how long a connection without channels stays open.
const linger = time.Second

// connect returns a connection that is made when a channel is subscribed to.
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

// run makes the changes until the client is closed or the feed has been unused
// for a while.
func (f *feed) run() {
	// There is always a first change. Receiving before it would connect to any
	// node of a cluster.
	<-f.wakeup
	f.makeChanges()
	received := make(chan struct{})
	go func() {
		defer close(received)
		f.receive()
	}()
	idle := time.NewTimer(linger)
	defer idle.Stop()
	for open := true; open; {
		select {
		case <-f.hub.c.ctx.Done():
			open = false
		case <-f.wakeup:
			f.makeChanges()
			idle.Reset(linger)
		case <-idle.C:
			if open = !f.retire(); open {
				idle.Reset(linger)
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

// retire takes the feed out of use if it has no topics.
func (f *feed) retire() bool {
	f.hub.mu.Lock()
	defer f.hub.mu.Unlock()
	if len(f.topics) > 0 || len(f.todo) > 0 {
		return false
	}
	delete(f.hub.feeds, f.key)
	return true
}

func (f *feed) makeChanges() {
	for {
		f.hub.mu.Lock()
		todo := f.todo
		f.todo = nil
		f.hub.mu.Unlock()
		if len(todo) == 0 {
			return
		}
		for _, c := range todo {
			f.make(c)
		}
	}
}

// make sends one change. What fails is made up for when go-redis connects again
// and subscribes to everything.
func (f *feed) make(c change) {
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

// reopen replaces a connection that is of no use any more and subscribes again.
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
		f.make(change{channel, true})
	}
}

// health is how long a connection may be silent before it is asked.
const health = 3 * time.Second

// receive wakes waiters until the feed ends.
func (f *feed) receive() {
	silent, failures := 0, 0
	for {
		ps := f.pubsub()
		m, err := ps.ReceiveTimeout(f.hub.c.ctx, health)
		switch {
		case err == nil:
			silent, failures = 0, 0
			if moved := f.deliver(m); moved {
				f.reopen()
			}
		case f.over():
			return
		case timedOut(err) && silent == 0:
			silent++
			_ = ps.Ping(f.hub.c.ctx)
		default: // at first go-redis has connected again by itself
			silent = 0
			failures++
			f.hub.c.lookAgain(f.hub.c.ctx, err)
			if failures > 1 || refused(err) {
				pause(f.hub.c.ctx, backoff(failures))
				f.reopen()
			}
		}
	}
}

func (f *feed) over() bool {
	f.hub.mu.Lock()
	defer f.hub.mu.Unlock()
	return f.ended || f.hub.c.ctx.Err() != nil
}

// refused reports whether the server itself answered with an error: MOVED, most
// likely.
func refused(err error) bool {
	var e redis.Error
	return errors.As(err, &e)
}

func timedOut(err error) bool {
	var e net.Error
	return errors.As(err, &e) && e.Timeout()
}

// deliver wakes the waiters that a message is for. It reports true when the
// server has ended a subscription that is still wanted: its slot moved.
func (f *feed) deliver(m any) (moved bool) {
	f.hub.mu.Lock()
	defer f.hub.mu.Unlock()
	switch m := m.(type) {
	case *redis.Message:
		if t := f.topics[m.Channel]; t != nil {
			t.message()
		}
	case *redis.Subscription:
		t := f.topics[m.Channel]
		switch {
		case t == nil:
		case m.Kind == "sunsubscribe" || m.Kind == "unsubscribe":
			return t.live // else it is the end of an earlier topic of that name
		case !t.live:
			t.live = true
			close(t.ready)
		default: // connected again: a message may have been lost
			t.wakeAll()
		}
	}
	return false
}

func (t *topic) message() {
	if t.all {
		t.wakeAll()
	} else {
		t.wakeFirst()
	}
}
