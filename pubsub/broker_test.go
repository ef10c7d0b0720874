package pubsub

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// listener notes what it is sent, in RESP2.
type listener struct {
	subs Subscriptions
	got  []string
}

func (l *listener) Deliver(m *Message) {
	l.got = append(l.got, strings.ReplaceAll(string(m.Encoding(2)), "\r\n", " "))
}

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
		t.Fatalf("%d deliveries", n)
	}
	want := []string{
		"*3 $7 message $4 news $2 hi ",
		"*4 $8 pmessage $2 n* $4 news $2 hi ",
		"*4 $8 pmessage $3 ne* $4 news $2 hi ",
	}
	if !slices.Equal(l.got, want) {
		t.Fatalf("%q", l.got)
	}
}

func TestPatternsGivenUpInAnyOrderLeaveTheOthers(t *testing.T) {
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
				t.Errorf("without %s: %d deliveries of p%d", gone, n, i+1)
			}
		}
		b.Close(l, &l.subs)
		if b.Patterns() != 0 || !b.Idle() {
			t.Errorf("%d patterns are left", b.Patterns())
		}
	}
}

func TestShardChannelsAreANameSpaceOfTheirOwn(t *testing.T) {
	b := NewBroker(prefix)
	l := &listener{}
	b.Subscribe(l, &l.subs, Channel, "a")
	b.Subscribe(l, &l.subs, Pattern, "a*")
	if n := b.Publish([]byte("a"), nil, true); n != 0 {
		t.Fatalf("%d deliveries of a shard message", n)
	}
	b.Subscribe(l, &l.subs, Shard, "a")
	if n := b.Publish([]byte("a"), nil, true); n != 1 || len(l.got) != 1 || !strings.Contains(l.got[0], "smessage") {
		t.Fatalf("%d deliveries: %q", n, l.got)
	}
}

func TestSubscribingTwiceIsSubscribingOnce(t *testing.T) {
	b := NewBroker(prefix)
	l := &listener{}
	if !b.Subscribe(l, &l.subs, Channel, "a") || b.Subscribe(l, &l.subs, Channel, "a") {
		t.Fatal("the second subscription counted")
	}
	if b.Publish([]byte("a"), nil, false) != 1 || l.subs.Count(Channel) != 1 {
		t.Fatal("delivered twice")
	}
	if !b.Unsubscribe(l, &l.subs, Channel, "a") || b.Unsubscribe(l, &l.subs, Channel, "a") {
		t.Fatal("the second end counted")
	}
}

func TestCloseLeavesNothingBehind(t *testing.T) {
	b := NewBroker(prefix)
	stays, goes := &listener{}, &listener{}
	b.Subscribe(stays, &stays.subs, Channel, "c1")
	for i := range 10 {
		b.Subscribe(goes, &goes.subs, Channel, fmt.Sprint("c", i))
		b.Subscribe(goes, &goes.subs, Pattern, fmt.Sprint("p", i, "*"))
		b.Subscribe(goes, &goes.subs, Shard, fmt.Sprint("s", i))
	}
	b.Close(goes, &goes.subs)
	if b.Count(Channel) != 1 || b.Patterns() != 0 || b.Count(Shard) != 0 || b.Subscribers(Channel, "c1") != 1 {
		t.Fatalf("left: %d channels, %d patterns, %d shard channels", b.Count(Channel), b.Patterns(), b.Count(Shard))
	}
	if b.Idle() {
		t.Fatal("idle with a subscriber")
	}
	if names := b.Channels(Channel, "c*"); !slices.Equal(names, []string{"c1"}) {
		t.Fatalf("%q", names)
	}
}

func TestAMessageIsEncodedOncePerProtocol(t *testing.T) {
	m := &Message{Channel: "c", Payload: []byte("x")}
	first, second := m.Encoding(3), m.Encoding(3)
	if &first[0] != &second[0] {
		t.Fatal("encoded twice")
	}
	if got := string(m.Encoding(3)); got != ">3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\nx\r\n" {
		t.Fatalf("%q", got)
	}
}

func BenchmarkPublishTo1000(b *testing.B) {
	broker := NewBroker(prefix)
	for range 1000 {
		l := &nobody{}
		broker.Subscribe(l, &l.subs, Channel, "c")
	}
	b.ReportAllocs()
	for range b.N {
		broker.Publish([]byte("c"), []byte("0"), false)
	}
}

type nobody struct{ subs Subscriptions }

func (*nobody) Deliver(m *Message) { m.Encoding(2) }
