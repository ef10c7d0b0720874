package lockredistest

import (
	"context"
	"slices"
	"sync"

	"github.com/lockredis/lockredis/internal/backdoor"
)

// Message is a message that a Subscriber received.
type Message struct {
	Channel string
	Pattern string // that matched; "" for a subscription to the channel itself
	Payload string
}

// Subscriber receives messages inside the test, without a client. It counts in PUBLISH's reply
// and in PUBSUB NUMSUB, and is never a leak. The end of the test closes it. Its methods may be
// called from any goroutine.
type Subscriber struct {
	listener backdoor.Listener

	mu      sync.Mutex // guards the fields below
	queue   []Message
	arrived chan struct{} // closed when the next message arrives
}

// NewSubscriber returns a subscriber without subscriptions.
func (s *Server) NewSubscriber() *Subscriber {
	sub := &Subscriber{arrived: make(chan struct{})}
	sub.listener = door(s).Listen(sub.deliver)
	return sub
}

// deliver queues a message. It is called inside the engine.
func (s *Subscriber) deliver(pattern, channel, payload string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = append(s.queue, Message{Channel: channel, Pattern: pattern, Payload: payload})
	close(s.arrived)
	s.arrived = make(chan struct{})
}

// Subscribe subscribes to channels.
func (s *Subscriber) Subscribe(channels ...string) {
	for _, name := range channels {
		s.listener.Subscribe(name, false)
	}
}

// PSubscribe subscribes to patterns.
func (s *Subscriber) PSubscribe(patterns ...string) {
	for _, name := range patterns {
		s.listener.Subscribe(name, true)
	}
}

// Unsubscribe ends subscriptions to channels.
func (s *Subscriber) Unsubscribe(channels ...string) {
	for _, name := range channels {
		s.listener.Unsubscribe(name, false)
	}
}

// PUnsubscribe ends subscriptions to patterns.
func (s *Subscriber) PUnsubscribe(patterns ...string) {
	for _, name := range patterns {
		s.listener.Unsubscribe(name, true)
	}
}

// Channels returns the channels that the subscriber is subscribed to, sorted.
func (s *Subscriber) Channels() []string {
	return slices.Sorted(slices.Values(s.listener.Names(false)))
}

// Patterns returns the patterns that the subscriber is subscribed to, sorted.
func (s *Subscriber) Patterns() []string {
	return slices.Sorted(slices.Values(s.listener.Names(true)))
}

// Close ends all subscriptions. Messages that have arrived can still be read.
func (s *Subscriber) Close() { s.listener.Close() }

// Messages returns the messages that have arrived and were not returned before, in their
// order. It does not wait. A message arrives before Publish, or the client's PUBLISH, returns.
func (s *Subscriber) Messages() []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	arrived := s.queue
	s.queue = nil
	return arrived
}

// Receive returns the next message and waits for it if there is none. The error is ctx's.
func (s *Subscriber) Receive(ctx context.Context) (Message, error) {
	for {
		s.mu.Lock()
		if len(s.queue) > 0 {
			next := s.queue[0]
			s.queue = s.queue[1:]
			s.mu.Unlock()
			return next, nil
		}
		arrived := s.arrived
		s.mu.Unlock()
		select {
		case <-arrived:
		case <-ctx.Done():
			return Message{}, ctx.Err()
		}
	}
}

// PubSubChannels returns the channels that have subscribers and match the pattern, sorted. ""
// as the pattern matches all.
func (k *Keyspace) PubSubChannels(pattern string) []string {
	if pattern == "" {
		pattern = "*"
	}
	channels, _ := sorted(k.list("PUBSUB", "CHANNELS", pattern))
	return channels
}

// PubSubNumSub returns how many subscribers each of the channels has.
func (k *Keyspace) PubSubNumSub(channels ...string) map[string]int {
	counts := make(map[string]int, len(channels))
	for _, channel := range channels {
		reply, _ := k.Do("PUBSUB", "NUMSUB", channel)
		pair := reply.([]any)
		n, _ := pair[1].(int64)
		counts[channel] = int(n)
	}
	return counts
}

// PubSubNumPat returns how many different patterns have subscribers.
func (k *Keyspace) PubSubNumPat() int {
	n, _ := k.integer("PUBSUB", "NUMPAT")
	return n
}
