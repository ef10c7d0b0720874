package pubsub

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// listener records its messages, encoded for RESP2.
type listener struct {
	subs Subscriptions
	got  []string
}

func (l *listener) Deliver(m *Message) {
	l.got = append(l.got, strings.ReplaceAll(string(m.Encoding(2)), "\r\n", " "))
}

// prefix matches a pattern that consists of a prefix and a *.
func prefix(pattern, name string) bool {
	return strings.HasPrefix(name, strings.TrimSuffix(pattern, "*"))
}

func TestAMessageGoesToTheChannelAndToEveryMatchingPattern(t *testing.T) {
	b := NewBroker(prefix)
	l := &listener{}
	b.Subscribe(l, &l.subs, Channel, "news")
	b.Subscribe(l, &l.subs, Pattern, "n*")
	b.Subscribe(l, &l.subs, Pattern, "ne*")
	b.Subscribe(l, &l.subs, Pattern, "x*")
	if n := b.Publish([]byte("news"), []byte("hi"), false); n != 3 {
		t.Fatalf("%d deliveries, want 3", n)
	}
	want := []string{
		"*3 $7 message $4 news $2 hi ",
		"*4 $8 pmessage $2 n* $4 news $2 hi ",
		"*4 $8 pmessage $3 ne* $4 news $2 hi ",
	}
	if !slices.Equal(l.got, want) {
		t.Fatalf("the subscriber got %q, want %q", l.got, want)
	}
}

func TestUnsubscribingFromAPatternKeepsTheOthers(t *testing.T) {
	for _, gone := range []string{"p1*", "p3*", "p5*"} {
		b, l := NewBroker(prefix), &listener{}
		for i := range 5 {
			b.Subscribe(l, &l.subs, Pattern, fmt.Sprintf("p%d*", i+1))
		}
		b.Unsubscribe(l, &l.subs, Pattern, gone)
		for i := range 5 {
			want := 1
			if fmt.Sprintf("p%d*", i+1) == gone {
				want = 0
			}
			if n := b.Publish([]byte(fmt.Sprint("p", i+1)), nil, false); n != want {
				t.Errorf("without %s: %d deliveries of p%d, want %d", gone, n, i+1, want)
			}
		}
		b.Close(l, &l.subs)
		if b.Patterns() != 0 || !b.Idle() {
			t.Errorf("%d patterns are left after Close", b.Patterns())
		}
	}
}

func TestAShardMessageReachesShardSubscribersOnly(t *testing.T) {
	b := NewBroker(prefix)
	l := &listener{}
	b.Subscribe(l, &l.subs, Channel, "a")
	b.Subscribe(l, &l.subs, Pattern, "a*")
	if n := b.Publish([]byte("a"), nil, true); n != 0 {
		t.Fatalf("%d deliveries of a shard message, want none", n)
	}
	b.Subscribe(l, &l.subs, Shard, "a")
	n := b.Publish([]byte("a"), nil, true)
	if n != 1 || len(l.got) != 1 || !strings.Contains(l.got[0], "smessage") {
		t.Fatalf("%d deliveries of a shard message, want 1: %q", n, l.got)
	}
}

func TestASecondSubscriptionToTheSameNameCountsOnce(t *testing.T) {
	b := NewBroker(prefix)
	l := &listener{}
	if !b.Subscribe(l, &l.subs, Channel, "a") || b.Subscribe(l, &l.subs, Channel, "a") {
		t.Fatal("the second Subscribe reports a new subscription")
	}
	if b.Publish([]byte("a"), nil, false) != 1 || l.subs.Count(Channel) != 1 {
		t.Fatal("a message was delivered twice, or the subscription counts twice")
	}
	if !b.Unsubscribe(l, &l.subs, Channel, "a") || b.Unsubscribe(l, &l.subs, Channel, "a") {
		t.Fatal("the second Unsubscribe reports a subscription")
	}
}

func TestCloseRemovesAllSubscriptionsOfOneSink(t *testing.T) {
	b := NewBroker(prefix)
	stays, goes := &listener{}, &listener{}
	b.Subscribe(stays, &stays.subs, Channel, "c1")
	for i := range 10 {
		b.Subscribe(goes, &goes.subs, Channel, fmt.Sprint("c", i))
		b.Subscribe(goes, &goes.subs, Pattern, fmt.Sprint("p", i, "*"))
		b.Subscribe(goes, &goes.subs, Shard, fmt.Sprint("s", i))
	}
	b.Close(goes, &goes.subs)
	if b.Count(Channel) != 1 || b.Patterns() != 0 || b.Count(Shard) != 0 {
		t.Fatalf("%d channels, %d patterns, %d shard channels are left",
			b.Count(Channel), b.Patterns(), b.Count(Shard))
	}
	if n := b.Subscribers(Channel, "c1"); n != 1 {
		t.Fatalf("c1 has %d subscribers, want 1", n)
	}
	if n := b.Subscribers(Channel, "c2") + b.Subscribers(Shard, "c1"); n != 0 {
		t.Fatalf("c2 and the shard channel c1 have %d subscribers, want none", n)
	}
	if b.Idle() {
		t.Fatal("the broker is idle with a subscriber")
	}
	if names := b.Channels(Channel, "c*"); !slices.Equal(names, []string{"c1"}) {
		t.Fatalf("the channels are %q, want c1", names)
	}
}

func TestAMessageIsEncodedOncePerProtocol(t *testing.T) {
	m := &Message{Channel: "c", Payload: []byte("x")}
	first, second := m.Encoding(3), m.Encoding(3)
	if &first[0] != &second[0] {
		t.Fatal("the message was encoded twice")
	}
	if got := string(m.Encoding(3)); got != ">3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\nx\r\n" {
		t.Fatalf("the encoding is %q", got)
	}
}

func TestEachProtocolVersionGetsItsOwnEncoding(t *testing.T) {
	m := &Message{Channel: "c", Payload: []byte("x")}
	for _, order := range [][]int{{2, 3}, {3, 2}} {
		m.set(Channel, "", "c", []byte("x"))
		for _, proto := range order {
			want := map[int]byte{2: '*', 3: '>'}[proto]
			if got := m.Encoding(proto); got[0] != want {
				t.Errorf("in the order %v, RESP%d: %q", order, proto, got)
			}
		}
	}
}

func TestALargeEncodingBufferIsNotKept(t *testing.T) {
	b, l := NewBroker(prefix), &encodingSink{}
	b.Subscribe(l, &l.subs, Channel, "c")
	for size, want := range map[int]bool{100: true, 2 * maxReusedBuffer: false} {
		b.Publish([]byte("c"), make([]byte, size), false)
		if kept := cap(b.message.encoded[0]) > 0; kept != want || b.message.Payload != nil {
			t.Errorf("%d bytes: the buffer is kept: %v, want %v", size, kept, want)
		}
	}
}

func BenchmarkPublishTo1000(b *testing.B) {
	broker := NewBroker(prefix)
	for range 1000 {
		l := &encodingSink{}
		broker.Subscribe(l, &l.subs, Channel, "c")
	}
	b.ReportAllocs()
	for range b.N {
		broker.Publish([]byte("c"), []byte("0"), false)
	}
}

// encodingSink asks for the encoding, as a client does, and drops it.
type encodingSink struct{ subs Subscriptions }

func (*encodingSink) Deliver(m *Message) { m.Encoding(2) }
