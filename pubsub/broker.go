package pubsub

import (
	"maps"
	"slices"
	"unsafe"

	"github.com/lockredis/lockredis/internal/heapsize"
	"github.com/lockredis/lockredis/internal/shrink"
	"github.com/lockredis/lockredis/resp"
)

// Kind is a family of subscriptions.
type Kind uint8

// The kinds of subscription. A Channel is matched by name, a Pattern by glob.
// Shard channels are matched by name too, in a name space of their own.
const (
	Channel Kind = iota
	Pattern
	Shard
)

// Message is one delivery. It is valid during the call of Deliver only.
type Message struct {
	Kind    Kind
	Pattern string // the pattern that matched, for Kind Pattern
	Channel string
	Payload []byte

	encoded [2][]byte     // for RESP2 and RESP3, made once for all subscribers; empty: not made
	elems   [4]resp.Reply // room for reply
}

// set makes m another message. It reuses the encoding buffers.
func (m *Message) set(k Kind, pattern, channel string, payload []byte) {
	*m = Message{Kind: k, Pattern: pattern, Channel: channel, Payload: payload, encoded: m.encoded}
	for i, encoded := range m.encoded {
		if m.encoded[i] = encoded[:0]; cap(encoded) > maxReusedBuffer {
			m.encoded[i] = nil
		}
	}
}

// maxReusedBuffer is the capacity of the largest encoding buffer that is kept for
// the next message, in bytes.
const maxReusedBuffer = 64 << 10

// Encoding returns the message encoded for RESP version proto: an array in RESP2,
// a push in RESP3. It is valid as long as the message is.
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

// Sink is a subscriber. Deliver must not block. It copies what it keeps of m.
type Sink interface {
	Deliver(m *Message)
}

// Subscriptions lists the subscriptions of one Sink. The client owns it. The zero
// Subscriptions is empty.
type Subscriptions struct {
	sets [3]list // by Kind
}

// Count returns the number of subscriptions of kind k.
func (s *Subscriptions) Count(k Kind) int { return len(s.sets[k].names) }

// Any reports whether there is a subscription.
func (s *Subscriptions) Any() bool {
	return len(s.sets[Channel].names)+len(s.sets[Pattern].names)+len(s.sets[Shard].names) > 0
}

// Names returns a copy of the names of kind k. They are in the order of
// subscription until the first Unsubscribe.
func (s *Subscriptions) Names(k Kind) []string { return append([]string(nil), s.sets[k].names...) }

// Since returns when the subscription began, in Unix ms. It is 0 unless Broker.Now was set.
func (s *Subscriptions) Since(k Kind, name string) int64 {
	l := &s.sets[k]
	if i, ok := l.index[name]; ok && i < len(l.since) {
		return l.since[i]
	}
	return 0
}

// list is a set of names. index has the position of each name in names.
type list struct {
	names []string
	since []int64 // by position, Unix ms; nil unless Broker.Now was set
	index map[string]int
	peak  int // of index, see shrink.Delete
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

// remove moves the last name into the free position.
func (l *list) remove(name string) bool {
	i, ok := l.index[name]
	if !ok {
		return false
	}
	last := len(l.names) - 1
	moved := l.names[last]
	l.names[i], l.index[moved] = moved, i
	l.names = shrink.Pop(l.names)
	if len(l.since) > last {
		l.since[i] = l.since[last]
		l.since = shrink.Pop(l.since)
	}
	shrink.Delete(&l.index, name, &l.peak)
	return true
}

// Broker has all subscriptions of a server.
type Broker struct {
	match func(pattern, name string) bool
	topic [3]map[string]*topic // by Kind and name
	peak  [3]int               // of topic, see shrink.Delete
	// order lists the patterns in the order of their first subscription, until
	// the last subscription to a pattern ends.
	order   []string
	bytes   int64   // estimated memory
	message Message // the message that is being delivered

	// Drop, if not nil, is asked before each delivery. If it returns true, the message is
	// lost on its way to sink. The publisher does not notice it.
	Drop func(sink Sink, m *Message) bool

	// Changed, if not nil, is called when a subscription has begun or ended.
	Changed func()

	// Heard, if not nil, is called when a subscription to a channel or a shard channel has begun, or has ended
	// (began is false). left is how many sinks the channel has now.
	Heard func(sink Sink, channel string, began bool, left int)

	// Now, if not nil, tells the time in Unix ms. The broker then records when each
	// subscription begins. It is set before the first subscription.
	Now func() int64
}

// topic lists the sinks of one name, in the order of subscription.
type topic struct {
	sinks []Sink
	pos   int // position in Broker.order, if the name is a pattern
}

// NewBroker returns an empty broker. match reports whether pattern matches name.
func NewBroker(match func(pattern, name string) bool) *Broker {
	b := &Broker{match: match}
	for k := range b.topic {
		b.topic[k] = map[string]*topic{}
	}
	return b
}

// Subscribe adds a subscription of sink and reports whether it is new. subs is
// sink's own list.
func (b *Broker) Subscribe(sink Sink, subs *Subscriptions, k Kind, name string) bool {
	if !subs.sets[k].add(name) {
		return false
	}
	if b.Now != nil {
		subs.sets[k].since = append(subs.sets[k].since, b.Now())
	}
	t := b.topic[k][name]
	if t == nil {
		t = &topic{}
		b.topic[k][name] = t
		if k == Pattern {
			t.pos = len(b.order)
			b.order = append(b.order, name)
		}
	}
	b.bytes += subscriptionBytes(name, len(t.sinks) == 0)
	t.sinks = append(t.sinks, sink)
	b.tell(sink, k, name, true, len(t.sinks))
	return true
}

// subscriptionBytes estimates the memory of a subscription. alone means that there is no other to
// the name.
func subscriptionBytes(name string, alone bool) int64 {
	const each = 48 // in names and sinks, which append makes larger than they must be
	n := each + heapsize.Text(len(name)) + heapsize.MapEntry[string, int]()
	if alone {
		n += heapsize.Pointers[topic](1) + heapsize.MapEntry[string, *topic]()
	}
	return int64(n)
}

// Bytes estimates the memory of all subscriptions.
func (b *Broker) Bytes() int64 { return b.bytes }

// Unsubscribe removes a subscription of sink and reports whether it existed. subs
// is sink's own list.
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
	b.bytes -= subscriptionBytes(name, len(t.sinks) == 0)
	if len(t.sinks) == 0 {
		shrink.Delete(&b.topic[k], name, &b.peak[k])
		if k == Pattern {
			b.forgetPattern(t)
		}
	}
	b.tell(sink, k, name, false, len(t.sinks))
	return true
}

// tell calls Heard and Changed.
func (b *Broker) tell(sink Sink, k Kind, name string, began bool, left int) {
	if b.Heard != nil && k != Pattern {
		b.Heard(sink, name, began, left)
	}
	if b.Changed != nil {
		b.Changed()
	}
}

// forgetPattern removes pattern t from order. It moves the last pattern into the
// free position, because a client may end thousands of subscriptions at once.
func (b *Broker) forgetPattern(t *topic) {
	last := len(b.order) - 1
	moved := b.order[last]
	b.order[t.pos] = moved
	if t.pos != last {
		b.topic[Pattern][moved].pos = t.pos
	}
	b.order = shrink.Pop(b.order)
}

// Close removes all subscriptions of sink. subs is sink's own list.
func (b *Broker) Close(sink Sink, subs *Subscriptions) {
	for k := Channel; k <= Shard; k++ {
		for _, name := range subs.Names(k) {
			b.Unsubscribe(sink, subs, k, name)
		}
	}
}

// Publish delivers payload to the subscribers of channel, then to the subscribers
// of each matching pattern. With shard set it delivers to the subscribers of the
// shard channel only. It returns the number of deliveries and keeps neither
// channel nor payload.
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
		if b.Drop == nil || !b.Drop(sink, m) {
			sink.Deliver(m)
		}
	}
	return len(t.sinks)
}

// Idle reports whether no channel and no pattern has a subscriber, so that a
// caller can skip building a message. It ignores shard channels.
func (b *Broker) Idle() bool { return len(b.topic[Channel]) == 0 && len(b.order) == 0 }

// AllChannels returns the names of kind k (Channel or Shard) that have subscribers, in no
// particular order.
func (b *Broker) AllChannels(k Kind) []string { return slices.Collect(maps.Keys(b.topic[k])) }

// Channels returns the names of AllChannels that match pattern.
func (b *Broker) Channels(k Kind, pattern string) []string {
	names := []string{}
	for name := range b.topic[k] {
		if b.match(pattern, name) {
			names = append(names, name)
		}
	}
	return names
}

// Subscribers returns the number of sinks that are subscribed to name as kind k.
func (b *Broker) Subscribers(k Kind, name string) int {
	if t := b.topic[k][name]; t != nil {
		return len(t.sinks)
	}
	return 0
}

// Patterns returns the number of different patterns that have subscribers.
func (b *Broker) Patterns() int { return len(b.order) }

// Count returns the number of different names of kind k that have subscribers.
func (b *Broker) Count(k Kind) int { return len(b.topic[k]) }
