package pubsub

import (
	"unsafe"

	"github.com/lockredis/lockredis/resp"
)

// Kind is a family of subscriptions.
type Kind uint8

// Channels are matched by name, patterns by glob, and shard channels are a
// name space of their own.
const (
	Channel Kind = iota
	Pattern
	Shard
)

// Message is one delivery. It is valid during the call that hands it over.
type Message struct {
	Kind    Kind
	Pattern string // the pattern that matched, for Kind Pattern
	Channel string
	Payload []byte

	encoded [2][]byte // by RESP version, made once for all subscribers; empty: not yet
	elems   [4]resp.Reply
}

// set makes m another message, in the memory of the one before.
func (m *Message) set(k Kind, pattern, channel string, payload []byte) {
	*m = Message{Kind: k, Pattern: pattern, Channel: channel, Payload: payload, encoded: m.encoded}
	for i, encoded := range m.encoded {
		if m.encoded[i] = encoded[:0]; cap(encoded) > keep {
			m.encoded[i] = nil
		}
	}
}

// keep is how large an encoded message may be whose memory is used again, in
// bytes.
const keep = 64 << 10

// Encoding returns the message as it goes out in RESP version proto: an array,
// or in RESP3 a push. It is valid as long as the message is.
func (m *Message) Encoding(proto int) []byte {
	slot := &m.encoded[0]
	if proto >= 3 {
		slot = &m.encoded[1]
	}
	if len(*slot) == 0 {
		*slot = resp.Append(*slot, m.reply(), proto)
	}
	return *slot
}

func (m *Message) reply() resp.Reply {
	elems := m.elems[:0]
	switch m.Kind {
	case Pattern:
		elems = append(elems, resp.BulkString("pmessage"), resp.BulkString(m.Pattern))
	case Shard:
		elems = append(elems, resp.BulkString("smessage"))
	default:
		elems = append(elems, resp.BulkString("message"))
	}
	return resp.Push(append(elems, resp.BulkString(m.Channel), resp.Bulk(m.Payload))...)
}

// Sink receives messages. Deliver must not block, and copies what it keeps.
type Sink interface {
	Deliver(m *Message)
}

// Subscriptions is one Sink's own list, kept with the client. Its zero value
// has none.
type Subscriptions struct {
	sets [3]list
}

// Count returns how many subscriptions of a kind there are.
func (s *Subscriptions) Count(k Kind) int { return len(s.sets[k].names) }

// Names returns the names of a kind, in the order of subscription as long as
// none was given up. It is a copy.
func (s *Subscriptions) Names(k Kind) []string { return append([]string(nil), s.sets[k].names...) }

// list is a set of names; index has each one's place.
type list struct {
	names []string
	index map[string]int
}

func (l *list) add(name string) bool {
	if _, ok := l.index[name]; ok {
		return false
	}
	if l.index == nil {
		l.index = map[string]int{}
	}
	l.index[name] = len(l.names)
	l.names = append(l.names, name)
	return true
}

func (l *list) remove(name string) bool {
	i, ok := l.index[name]
	if !ok {
		return false
	}
	last := len(l.names) - 1
	moved := l.names[last]
	l.names[i], l.index[moved] = moved, i
	l.names = l.names[:last]
	delete(l.index, name)
	return true
}

// Broker knows all subscriptions of a server.
type Broker struct {
	match func(pattern, name string) bool
	topic [3]map[string]*topic
	// order is the patterns, in that of their first subscription as long as none
	// was given up.
	order   []string
	message Message // the one on its way
}

// topic is the Sinks of one name, in the order of subscription.
type topic struct {
	sinks []Sink
	place int // of a pattern, in Broker.order
}

// NewBroker returns an empty broker. match is the glob that patterns use.
func NewBroker(match func(pattern, name string) bool) *Broker {
	b := &Broker{match: match}
	for k := range b.topic {
		b.topic[k] = map[string]*topic{}
	}
	return b
}

// Subscribe adds a subscription and reports whether it is new.
func (b *Broker) Subscribe(sink Sink, subs *Subscriptions, k Kind, name string) bool {
	if !subs.sets[k].add(name) {
		return false
	}
	t := b.topic[k][name]
	if t == nil {
		t = &topic{}
		b.topic[k][name] = t
		if k == Pattern {
			t.place = len(b.order)
			b.order = append(b.order, name)
		}
	}
	t.sinks = append(t.sinks, sink)
	return true
}

// Unsubscribe takes a subscription away and reports whether there was one.
func (b *Broker) Unsubscribe(sink Sink, subs *Subscriptions, k Kind, name string) bool {
	if !subs.sets[k].remove(name) {
		return false
	}
	t := b.topic[k][name]
	for i, s := range t.sinks {
		if s == sink {
			t.sinks = append(t.sinks[:i], t.sinks[i+1:]...)
			break
		}
	}
	if len(t.sinks) == 0 {
		delete(b.topic[k], name)
		if k == Pattern {
			b.forgetPattern(t)
		}
	}
	return true
}

// forgetPattern fills the pattern's place with the last one: a client may give
// up thousands at once.
func (b *Broker) forgetPattern(t *topic) {
	last := len(b.order) - 1
	moved := b.order[last]
	b.order[t.place] = moved
	if t.place != last {
		b.topic[Pattern][moved].place = t.place
	}
	b.order[last] = ""
	b.order = b.order[:last]
}

// Close takes all of a sink's subscriptions away.
func (b *Broker) Close(sink Sink, subs *Subscriptions) {
	for k := Channel; k <= Shard; k++ {
		for _, name := range subs.Names(k) {
			b.Unsubscribe(sink, subs, k, name)
		}
	}
}

// Publish delivers payload to the subscribers of channel (and, unless shard,
// to those of each matching pattern) and returns the number of deliveries. It
// keeps neither.
func (b *Broker) Publish(channel, payload []byte, shard bool) (n int) {
	name, kind := unsafe.String(unsafe.SliceData(channel), len(channel)), Channel
	if shard {
		kind = Shard
	}
	m := &b.message
	defer m.set(kind, "", "", nil)
	if t := b.topic[kind][name]; t != nil {
		m.set(kind, "", name, payload)
		n = b.deliver(m, t)
	}
	if shard {
		return n
	}
	for _, pattern := range b.order {
		if b.match(pattern, name) {
			m.set(Pattern, pattern, name, payload)
			n += b.deliver(m, b.topic[Pattern][pattern])
		}
	}
	return n
}

func (b *Broker) deliver(m *Message, t *topic) int {
	for _, sink := range t.sinks {
		sink.Deliver(m)
	}
	return len(t.sinks)
}

// Idle reports whether nobody listens to any channel or pattern, so that a
// caller can skip building a message.
func (b *Broker) Idle() bool { return len(b.topic[Channel]) == 0 && len(b.order) == 0 }

// Channels returns the names of kind k (Channel or Shard) that have
// subscribers and match pattern.
func (b *Broker) Channels(k Kind, pattern string) []string {
	names := []string{}
	for name := range b.topic[k] {
		if b.match(pattern, name) {
			names = append(names, name)
		}
	}
	return names
}

// Subscribers returns how many sinks listen to a name of kind k.
func (b *Broker) Subscribers(k Kind, name string) int {
	if t := b.topic[k][name]; t != nil {
		return len(t.sinks)
	}
	return 0
}

// Patterns returns the number of different patterns.
func (b *Broker) Patterns() int { return len(b.order) }

// Count returns the number of different names of kind k.
func (b *Broker) Count(k Kind) int { return len(b.topic[k]) }
