package pubsub

import (
	"fmt"
	"testing"
)

func TestASubscriptionKnowsWhenItBegan(t *testing.T) {
	now := int64(0)
	b := NewBroker(func(p, s string) bool { return p == s })
	var sink struct{ Sink }
	var subs Subscriptions
	b.Subscribe(sink, &subs, Channel, "early")
	if got := subs.Since(Channel, "early"); got != 0 {
		t.Errorf("without a clock: since %d", got)
	}
	subs = Subscriptions{}
	b.Now = func() int64 { return now }
	for i := range 5 {
		now = int64(100 + i)
		for range 2 { // the second time it exists
			b.Subscribe(sink, &subs, Channel, fmt.Sprint(i))
			b.Subscribe(sink, &subs, Pattern, fmt.Sprint(i))
		}
		now = 0
		b.Subscribe(sink, &subs, Channel, fmt.Sprint(i))
	}
	for _, gone := range []int{0, 4, 2} {
		b.Unsubscribe(sink, &subs, Channel, fmt.Sprint(gone))
	}
	for i, want := range []int64{0, 101, 0, 103, 0} {
		if got := subs.Since(Channel, fmt.Sprint(i)); got != want {
			t.Errorf("channel %d: since %d, want %d", i, got, want)
		}
		if got := subs.Since(Pattern, fmt.Sprint(i)); got != int64(100+i) {
			t.Errorf("pattern %d: since %d", i, got)
		}
	}
}
