package pubsub

import "testing"

type auditor struct{ subs Subscriptions }

func (*auditor) Deliver(*Message) {}

func TestCheckFindsWhatContradictsItself(t *testing.T) {
	for name, spoil := range map[string]func(*Broker, *auditor){
		"a subscriber that forgot":  func(_ *Broker, l *auditor) { l.subs = Subscriptions{} },
		"a broker that forgot":      func(b *Broker, _ *auditor) { delete(b.topic[Channel], "a") },
		"an empty channel":          func(b *Broker, _ *auditor) { b.topic[Shard]["x"] = &topic{} },
		"a subscriber twice":        func(b *Broker, l *auditor) { b.topic[Channel]["a"].sinks = []Sink{l, l} },
		"a pattern without a place": func(b *Broker, _ *auditor) { b.order = nil },
		"a list out of order":       func(_ *Broker, l *auditor) { l.subs.sets[Channel].index["a"] = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			b, l := NewBroker(func(p, s string) bool { return p == s }), &auditor{}
			b.Subscribe(l, &l.subs, Channel, "a")
			b.Subscribe(l, &l.subs, Channel, "b")
			b.Subscribe(l, &l.subs, Pattern, "c")
			lists := map[Sink]*Subscriptions{l: &l.subs}
			if err := b.Check(lists); err != nil {
				t.Fatal(err)
			}
			spoil(b, l)
			if b.Check(lists) == nil {
				t.Fatal("not found")
			}
		})
	}
}
