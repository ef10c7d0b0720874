package pubsub

import (
	"fmt"
	"slices"
)

// Check returns an error when the broker and its sinks' own lists disagree.
// lists are all sinks that there are. It looks at everything and is for tests.
func (b *Broker) Check(lists map[Sink]*Subscriptions) error {
	for k := Channel; k <= Shard; k++ {
		entries := 0
		for name, t := range b.topic[k] {
			if len(t.sinks) == 0 {
				return fmt.Errorf("pubsub: %q has no subscriber", name)
			}
			for _, sink := range t.sinks {
				if subs := lists[sink]; subs == nil || !subs.has(k, name) {
					return fmt.Errorf("pubsub: a subscriber of %q does not know of it", name)
				}
			}
			entries += len(t.sinks)
		}
		for sink, subs := range lists {
			if err := subs.sets[k].check(); err != nil {
				return err
			}
			for _, name := range subs.sets[k].names {
				if t := b.topic[k][name]; t == nil || !slices.Contains(t.sinks, sink) {
					return fmt.Errorf("pubsub: the broker does not know a subscriber of %q", name)
				}
				entries--
			}
		}
		if entries != 0 {
			return fmt.Errorf("pubsub: %d entries of subscribers that stand twice", entries)
		}
	}
	return b.checkOrder()
}

func (b *Broker) checkOrder() error {
	if len(b.order) != len(b.topic[Pattern]) {
		return fmt.Errorf("pubsub: %d patterns in order, %d in all", len(b.order), len(b.topic[Pattern]))
	}
	for i, name := range b.order {
		if t := b.topic[Pattern][name]; t == nil || t.place != i {
			return fmt.Errorf("pubsub: pattern %q does not know its place", name)
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
		return fmt.Errorf("pubsub: %d names, %d in the index", len(l.names), len(l.index))
	}
	for i, name := range l.names {
		if at, ok := l.index[name]; !ok || at != i {
			return fmt.Errorf("pubsub: %q is at %d, not %d", name, i, at)
		}
	}
	return nil
}
