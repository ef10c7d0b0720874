package pubsub

import (
	"fmt"
	"slices"
)

// Check returns an error when the broker and the sinks' own Subscriptions
// disagree. lists must have every sink of the broker. Check visits every
// subscription and is for tests.
func (b *Broker) Check(lists map[Sink]*Subscriptions) error {
	bytes := int64(0)
	for k := Channel; k <= Shard; k++ {
		entries := 0
		for name, t := range b.topic[k] {
			if len(t.sinks) == 0 {
				return fmt.Errorf("pubsub: %q is kept without a subscriber", name)
			}
			for _, sink := range t.sinks {
				if subs := lists[sink]; subs == nil || !subs.has(k, name) {
					return fmt.Errorf("pubsub: a subscriber of %q does not list it", name)
				}
			}
			entries += len(t.sinks)
			bytes += subscriptionBytes(name, true) + int64(len(t.sinks)-1)*subscriptionBytes(name, false)
		}
		for sink, subs := range lists {
			if err := subs.sets[k].check(); err != nil {
				return err
			}
			for _, name := range subs.sets[k].names {
				if t := b.topic[k][name]; t == nil || !slices.Contains(t.sinks, sink) {
					return fmt.Errorf("pubsub: a sink lists %q, the broker does not list the sink", name)
				}
				entries--
			}
		}
		if entries != 0 {
			return fmt.Errorf("pubsub: %d subscriptions are listed twice", entries)
		}
	}
	if bytes != b.bytes {
		return fmt.Errorf("pubsub: the subscriptions take %d bytes, counted as %d", bytes, b.bytes)
	}
	return b.checkOrder()
}

func (b *Broker) checkOrder() error {
	if len(b.order) != len(b.topic[Pattern]) {
		return fmt.Errorf("pubsub: the order lists %d patterns of %d", len(b.order),
			len(b.topic[Pattern]))
	}
	for i, name := range b.order {
		if t := b.topic[Pattern][name]; t == nil || t.pos != i {
			return fmt.Errorf("pubsub: pattern %q at %d of the order records another position", name, i)
		}
	}
	return nil
}

func (s *Subscriptions) has(k Kind, name string) bool {
	_, ok := s.sets[k].index[name]
	return ok
}

func (l *list) check() error {
	if len(l.names) != len(l.index) {
		return fmt.Errorf("pubsub: a sink lists %d names and indexes %d", len(l.names), len(l.index))
	}
	for i, name := range l.names {
		if at, ok := l.index[name]; !ok || at != i {
			return fmt.Errorf("pubsub: %q is at %d, its index says %d", name, i, at)
		}
	}
	return nil
}
