package hub

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// topic is a channel and its waiters, in arrival order, or a watched key. It belongs
// to one feed.
type topic struct {
	hub     *Hub
	name    string // the channel or the key
	feed    *feed  // nil: not placed yet
	ended   bool   // has no waiters and is not watched
	watches int    // number of Watch calls less Unwatch calls; 0 for a channel

	waiters   []*Waiter
	ready     chan struct{} // closed when the first subscription is confirmed
	confirmed bool          // ready is closed
	refusals  int           // number of subscriptions refused since the last confirmation
	denied    error         // why there can be no subscription; nil: there is or may be one
}

// Waiter is one goroutine that waits on a channel. Messages published before
// Ready is closed may be missed.
type Waiter struct {
	topic  *topic
	shared bool          // a message wakes it together with others
	wake   chan struct{} // capacity 1
}

// detach takes t from its feed.
func (t *topic) detach() {
	f := t.feed
	t.feed = nil
	delete(f.topics, t)
	f.idleSince = time.Now()
	f.changed(t.name)
}

// end ends a topic that the hub no longer has.
func (t *topic) end() {
	t.ended = true
	if t.feed != nil {
		t.detach()
	}
}

// deliver wakes the waiters that a message is for.
func (t *topic) deliver() {
	for _, w := range t.waiters {
		if w.shared {
			w.signal()
		}
	}
	t.wakeFirst()
}

// confirm records that the server has confirmed the subscription. If an earlier
// connection broke, a message may have been lost, so all waiters are woken.
func (t *topic) confirm() {
	t.refusals, t.denied = 0, nil
	if !t.confirmed {
		t.confirmed = true
		close(t.ready)
		return
	}
	t.wakeAll()
}

// deny ends all waits with an error if the reason is that the server does not accept the
// client's user, or that the user lacks a right.
func (t *topic) deny(reason error) {
	if isDenied(reason) {
		t.denied = fmt.Errorf("rlock: subscribe to %q: %w", t.name, reason)
		t.wakeAll()
	}
}

func (t *topic) wakeAll() {
	for _, w := range t.waiters {
		w.signal()
	}
}

// Wake has a wake-up: a message for the waiter, or a reason to look again.
func (w *Waiter) Wake() <-chan struct{} { return w.wake }

// Ready is closed when the first subscription of the channel is confirmed.
func (w *Waiter) Ready() <-chan struct{} { return w.topic.ready }

// Denied returns why no message can wake the waiter, or nil.
func (w *Waiter) Denied() error {
	w.topic.hub.mu.Lock()
	defer w.topic.hub.mu.Unlock()
	return w.topic.denied
}

// wakeFirst wakes the first waiter that is not shared.
func (t *topic) wakeFirst() {
	for _, w := range t.waiters {
		if !w.shared {
			w.signal()
			return
		}
	}
}

// Leave removes the waiter. A wake-up that it has not used goes to the next waiter.
func (w *Waiter) Leave() {
	t := w.topic
	t.hub.mu.Lock()
	defer t.hub.mu.Unlock()
	t.waiters = slices.DeleteFunc(t.waiters, func(other *Waiter) bool { return other == w })
	select {
	case <-w.wake:
		t.wakeFirst()
	default:
	}
	if len(t.waiters) == 0 && !t.ended {
		delete(t.hub.topics, t.name)
		t.end()
	}
}

// WakeNext wakes the waiter that arrived after w.
func (w *Waiter) WakeNext() {
	t := w.topic
	t.hub.mu.Lock()
	defer t.hub.mu.Unlock()
	if i := slices.Index(t.waiters, w) + 1; i < len(t.waiters) {
		t.waiters[i].signal()
	}
}

func (w *Waiter) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// isDenied reports whether err is a reply that the client's user lacks a right, or is not
// logged in. It does not change by trying again.
func isDenied(err error) bool {
	e, ok := errors.AsType[redis.Error](err)
	if !ok {
		return false
	}
	kind, _, _ := strings.Cut(e.Error(), " ")
	return kind == "NOPERM" || kind == "NOAUTH" || kind == "WRONGPASS"
}
