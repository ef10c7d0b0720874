package pubsub

import "testing"

// silentSink drops its messages.
type silentSink struct{ subs Subscriptions }

func (*silentSink) Deliver(*Message) {}

func TestCheckFindsEveryInconsistency(t *testing.T) {
	for name, spoil := range map[string]func(*Broker, *silentSink){
		"a sink that lists nothing":      func(_ *Broker, l *silentSink) { l.subs = Subscriptions{} },
		"a channel that is missing":      func(b *Broker, _ *silentSink) { delete(b.topic[Channel], "a") },
		"a channel without a subscriber": func(b *Broker, _ *silentSink) { b.topic[Shard]["x"] = &topic{} },
		"a subscriber listed twice":      func(b *Broker, l *silentSink) { b.topic[Channel]["a"].sinks = []Sink{l, l} },
		"a pattern without a position":   func(b *Broker, _ *silentSink) { b.order = nil },
		"a wrong index of names":         func(_ *Broker, l *silentSink) { l.subs.sets[Channel].index["a"] = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			b, l := NewBroker(func(p, s string) bool { return p == s }), &silentSink{}
			b.Subscribe(l, &l.subs, Channel, "a")
			b.Subscribe(l, &l.subs, Channel, "b")
			b.Subscribe(l, &l.subs, Pattern, "c")
			lists := map[Sink]*Subscriptions{l: &l.subs}
			if err := b.Check(lists); err != nil {
				t.Fatal(err)
			}
			spoil(b, l)
			if b.Check(lists) == nil {
				t.Fatal("Check found nothing")
			}
		})
	}
}
