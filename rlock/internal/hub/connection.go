package hub

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/redis/go-redis/v9"
)

// connection is one pub/sub connection. A redis.PubSub connects again by itself, but
// then nothing tells which confirmations are still to come. So after the first
// command its methods get hub.noDial, a context that has ended. go-redis uses it only
// to dial. When the connection breaks, the feed makes a new one. (go-redis's dialer for
// TLS ignores the context: it makes a connection more, which the feed closes.)
type connection struct {
	feed     *feed
	ps       *redis.PubSub
	channels map[string]*subscription
	awaited  []change      // changes that the server has not answered yet, in order
	ended    chan struct{} // closed when receive has returned
}

// subscription is the state of one channel on a connection.
type subscription struct {
	wanted  bool // the last command sent was a subscribe
	awaited int  // number of answers still to come
}

// change is a command that begins or ends a subscription.
type change struct {
	subscribe bool
	channel   string
}

const (
	// pingAfter is how long a connection may be silent before receive sends PING.
	pingAfter = time.Second

	// replyWithin is how long a connection waits for the reply to that PING, and for each
	// reply while it connects. Together with pingAfter it is the longest time for which a
	// waiter may miss messages.
	replyWithin = time.Second
)

// newConnection returns a connection of f. The first command opens it.
func newConnection(f *feed, on Subscriber) *connection {
	on = bounded(on)
	c := &connection{feed: f, channels: map[string]*subscription{}, ended: make(chan struct{})}
	if f.hub.nodes.Sharded() {
		c.ps = on.SSubscribe(f.hub.ctx)
	} else {
		c.ps = on.Subscribe(f.hub.ctx)
	}
	return c
}

// bounded returns a client with the same connections that waits at most replyWithin
// for a reply while it connects.
func bounded(on Subscriber) Subscriber {
	client, ok := on.(interface {
		Options() *redis.Options
		WithTimeout(time.Duration) *redis.Client
	})
	if !ok {
		return on
	}
	o := client.Options()
	within := func(d time.Duration) bool { return 0 < d && d <= replyWithin }
	if within(o.ReadTimeout) && within(o.WriteTimeout) {
		return on
	}
	return client.WithTimeout(replyWithin)
}

// change sends the commands for all channels whose subscription must change.
func (c *connection) change(ctx context.Context) error {
	for {
		changes := c.plan()
		if len(changes) == 0 {
			return nil
		}
		for _, ch := range changes {
			if err := c.send(ctx, ch); err != nil {
				return err
			}
		}
	}
}

// plan returns the commands to send, and records the answers to expect.
func (c *connection) plan() (changes []change) {
	f := c.feed
	f.hub.mu.Lock()
	defer f.hub.mu.Unlock()
	for _, channel := range f.dirty {
		t, s := c.topic(channel), c.channels[channel]
		switch wanted := t != nil; {
		case s == nil && !wanted:
		case s == nil:
			c.channels[channel] = &subscription{wanted: true, awaited: 1}
			changes = append(changes, change{true, channel})
		case wanted != s.wanted:
			s.wanted = wanted
			s.awaited++
			changes = append(changes, change{wanted, channel})
		case wanted && s.awaited == 0: // a new topic of a channel not yet given up
			t.confirm()
		}
	}
	f.dirty = f.dirty[:0]
	c.awaited = append(c.awaited, changes...)
	return changes
}

func (c *connection) send(ctx context.Context, ch change) error {
	sharded := c.feed.hub.nodes.Sharded()
	switch {
	case ch.subscribe && sharded:
		return c.ps.SSubscribe(ctx, ch.channel)
	case ch.subscribe:
		return c.ps.Subscribe(ctx, ch.channel)
	case sharded:
		return c.ps.SUnsubscribe(ctx, ch.channel)
	}
	return c.ps.Unsubscribe(ctx, ch.channel)
}

// close closes the connection and waits for receive.
func (c *connection) close() {
	c.ps.Close()
	<-c.ended
}

// receive handles what the server sends until the connection breaks, or a PING gets
// no reply within replyWithin.
func (c *connection) receive() {
	defer close(c.ended)
	pinged := false
	for {
		limit := pingAfter
		if pinged {
			limit = replyWithin
		}
		m, err := c.ps.ReceiveTimeout(c.feed.hub.noDial, limit)
		switch {
		case err == nil:
			pinged = false
			c.deliver(m)
		case isServerError(err):
			pinged = false
			c.refused(err)
		case isTimeout(err) && !pinged:
			pinged = true
			_ = c.ps.Ping(c.feed.hub.noDial) // a broken connection ends the next receive
		default:
			return
		}
	}
}

// deliver handles a message or a confirmation.
func (c *connection) deliver(m any) {
	c.feed.hub.mu.Lock()
	defer c.feed.hub.mu.Unlock()
	switch m := m.(type) {
	case *redis.Message:
		if t := c.topic(m.Channel); t != nil {
			t.deliver()
		}
	case *redis.Subscription:
		ch := change{m.Kind == "subscribe" || m.Kind == "ssubscribe", m.Channel}
		switch {
		case len(c.awaited) > 0 && c.awaited[0] == ch:
			c.answered(nil)
		case !ch.subscribe: // the server ended it, because its slot moved
			if s := c.channels[ch.channel]; s != nil && s.awaited == 0 {
				// A node that became a replica takes subscriptions, too: no refusal tells
				// that the slot map is still the old one.
				c.feed.verify, c.feed.hub.slotMoved = true, time.Now()
				c.drop(ch.channel, errSlotMoved)
			}
		}
	}
}

// isServerError reports whether err is an error reply of the server, such as MOVED.
func isServerError(err error) bool {
	_, ok := errors.AsType[redis.Error](err)
	return ok
}

func isTimeout(err error) bool {
	e, ok := errors.AsType[net.Error](err)
	return ok && e.Timeout()
}

// errSlotMoved is the reason of a subscription that the server ended.
var errSlotMoved = errors.New("the channel's slot has moved")

// topic returns the channel's topic if it belongs to the connection's feed.
func (c *connection) topic(channel string) *topic {
	t := c.feed.hub.topics[channel]
	if t == nil || t.feed != c.feed {
		return nil
	}
	return t
}

// answered records the answer to the oldest command without one, because the server
// answers in order. refusal is an error reply, or nil.
func (c *connection) answered(refusal error) {
	channel := c.awaited[0].channel
	c.awaited = c.awaited[1:]
	s := c.channels[channel]
	s.awaited--
	switch {
	case s.awaited > 0: // the channel has a later command
	case !s.wanted:
		delete(c.channels, channel)
	case refusal != nil:
		c.drop(channel, refusal)
	default:
		if t := c.topic(channel); t != nil {
			t.confirm()
		}
	}
}

// drop records why the server has no subscription of a channel that was wanted.
func (c *connection) drop(channel string, reason error) {
	delete(c.channels, channel)
	if t := c.topic(channel); t != nil {
		c.feed.refuse(t, reason)
	}
}

// refused records an error reply. One to PING, when no command is without an answer, is
// a sign of life.
func (c *connection) refused(err error) {
	c.feed.hub.mu.Lock()
	defer c.feed.hub.mu.Unlock()
	if len(c.awaited) > 0 {
		c.answered(err)
	}
}
