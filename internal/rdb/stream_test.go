package rdb

import (
	"fmt"
	"testing"

	"github.com/lockredis/lockredis/store"
)

// newStream returns a stream of several nodes with deleted entries and a group.
func newStream() *store.Stream {
	s := &store.Stream{}
	limits := lim
	limits.StreamNodeEntries = 4
	for i := range uint64(20) {
		name := []byte("f")
		if i%5 == 4 {
			name = []byte("other")
		}
		fields := [][]byte{name, fmt.Appendf(nil, "value %d", i), []byte("n"), fmt.Append(nil, i*1000)}
		s.Append(store.StreamID{MS: 1 + i/3, Seq: i}, fields, &limits)
	}
	s.Delete(store.StreamID{MS: 1, Seq: 0})
	s.Delete(store.StreamID{MS: 3, Seq: 7})
	g := s.Groups.Add([]byte("g"))
	g.Last, g.Read = store.StreamID{MS: 2, Seq: 4}, 4
	c := g.AddConsumer([]byte("c"), 17)
	g.AddConsumer([]byte("idle"), 18)
	g.Deliver(store.StreamID{MS: 1, Seq: 1}, c, 19)
	g.Deliver(store.StreamID{MS: 2, Seq: 3}, c, 20)
	return s
}

func TestStreamsComeBack(t *testing.T) {
	var e Encoder
	for name, s := range map[string]*store.Stream{"empty": {}, "full": newStream()} {
		payload := e.AppendValue(nil, s)
		v, err := Decode(payload, &lim)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := check(v); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if again := e.AppendValue(nil, v); string(again) != string(payload) {
			t.Errorf("%s: %q comes back as %q", name, payload, again)
		}
	}
}

// A value that Decode returns is consistent, whatever the payload says.
func TestDamagedStreamsAreRefusedOrSound(t *testing.T) {
	var e Encoder
	payload := e.AppendValue(nil, newStream())
	try := func(damaged []byte) {
		v, err := Decode(damaged, &lim)
		if err != nil {
			return
		}
		if err := check(v); err != nil {
			t.Errorf("%q: %v", damaged, err)
		}
	}
	for i := range payload {
		try(payload[:i])
		for _, c := range []byte{0, 1, 2, 0x7f, 0x80, 0xff, payload[i] ^ 1, payload[i] + 1} {
			damaged := append([]byte{}, payload...)
			damaged[i] = c
			try(damaged)
		}
	}
}
