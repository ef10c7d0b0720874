package store

import (
	"slices"
	"strings"

	"github.com/lockredis/lockredis/internal/heapsize"
)

// StreamGroups are the consumer groups of a stream, sorted by name.
type StreamGroups []*StreamGroup

// Find returns the group, nil if there is none.
func (g StreamGroups) Find(name []byte) *StreamGroup {
	if i, ok := g.find(name); ok {
		return g[i]
	}
	return nil
}

func (g StreamGroups) find(name []byte) (i int, ok bool) {
	return slices.BinarySearchFunc(g, name, func(group *StreamGroup, name []byte) int {
		return strings.Compare(group.Name, string(name))
	})
}

// Add adds a group and returns it, nil if there is one of that name.
func (g *StreamGroups) Add(name []byte) *StreamGroup {
	i, ok := g.find(name)
	if ok {
		return nil
	}
	added := &StreamGroup{Name: string(name)}
	*g = slices.Insert(*g, i, added)
	return added
}

// Remove removes a group and reports whether there was one.
func (g *StreamGroups) Remove(name []byte) bool {
	i, ok := g.find(name)
	if ok {
		*g = slices.Delete(*g, i, i+1)
	}
	return ok
}

func (g StreamGroups) clone() StreamGroups {
	copied := make(StreamGroups, len(g))
	for i, group := range g {
		copied[i] = group.clone()
	}
	return copied
}

func (g StreamGroups) memoryUsage(samples int) (n int64) {
	for _, group := range g {
		n += group.memoryUsage(samples)
	}
	return n + int64(heapsize.Pointers[*StreamGroup](cap(g)))
}

// StreamGroup is a consumer group of a stream.
type StreamGroup struct {
	Name string
	// Last is the id of the last entry that was delivered to a consumer.
	Last StreamID
	// Read is how many of the entries that were ever added have been delivered. It is
	// ReadUnknown after the group was set to an arbitrary id.
	Read int64

	consumers []*StreamConsumer // sorted by name
	pending   idTree[*Pending]
}

// ReadUnknown is StreamGroup.Read if it is not known.
const ReadUnknown = -1

// StreamConsumer is a consumer of a group.
type StreamConsumer struct {
	Name string
	// Seen is when the consumer last did something, in Unix ms.
	Seen int64

	pending idTree[*Pending]
}

// Pending is an entry that was delivered to a consumer and is not acknowledged. It can
// outlive the entry itself.
type Pending struct {
	Consumer  *StreamConsumer
	Delivered int64 // when it was last delivered, in Unix ms
	Count     int64 // how often it was delivered
}

// Consumers returns the consumers, sorted by name. The slice must not be changed.
func (g *StreamGroup) Consumers() []*StreamConsumer { return g.consumers }

// Consumer returns the consumer of that name, nil if there is none.
func (g *StreamGroup) Consumer(name []byte) *StreamConsumer {
	if i, ok := g.find(name); ok {
		return g.consumers[i]
	}
	return nil
}

func (g *StreamGroup) find(name []byte) (i int, ok bool) {
	return slices.BinarySearchFunc(g.consumers, name, func(c *StreamConsumer, name []byte) int {
		return strings.Compare(c.Name, string(name))
	})
}

// AddConsumer adds a consumer and returns it, nil if there is one of that name.
func (g *StreamGroup) AddConsumer(name []byte, seen int64) *StreamConsumer {
	i, ok := g.find(name)
	if ok {
		return nil
	}
	c := &StreamConsumer{Name: string(name), Seen: seen}
	g.consumers = slices.Insert(g.consumers, i, c)
	return c
}

// RemoveConsumer removes a consumer of the group with its pending entries.
func (g *StreamGroup) RemoveConsumer(c *StreamConsumer) {
	c.pending.ascend(StreamID{}, func(id StreamID, _ *Pending) bool {
		g.pending.remove(id)
		return true
	})
	i, _ := g.find(bytesOf(c.Name))
	g.consumers = slices.Delete(g.consumers, i, i+1)
}

// Len returns the number of pending entries of the group.
func (g *StreamGroup) Len() int { return g.pending.len() }

// Len returns the number of pending entries of the consumer.
func (c *StreamConsumer) Len() int { return c.pending.len() }

// Pending returns the pending entry with this id, nil if there is none.
func (g *StreamGroup) Pending(id StreamID) *Pending {
	p, _ := g.pending.get(id)
	return p
}

// Bounds returns the least and the greatest id of the pending entries, 0-0 if there are none.
func (g *StreamGroup) Bounds() (first, last StreamID) {
	first, _, _ = g.pending.first()
	last, _, _ = g.pending.last()
	return first, last
}

// Each calls do for the group's pending entries from an id on, in order, until do returns
// false. do must not add or remove pending entries.
func (g *StreamGroup) Each(from StreamID, do func(StreamID, *Pending) bool) {
	g.pending.ascend(from, do)
}

// Each calls do for the consumer's pending entries from an id on, in order, until do returns
// false. do must not add or remove pending entries.
func (c *StreamConsumer) Each(from StreamID, do func(StreamID, *Pending) bool) {
	c.pending.ascend(from, do)
}

// Deliver records that the entry was delivered to c, for the first time or, after the group
// was set back, as if for the first time. now is in Unix ms.
func (g *StreamGroup) Deliver(id StreamID, c *StreamConsumer, now int64) {
	p := g.Assign(id, c)
	p.Delivered, p.Count = now, 1
}

// Assign makes c the consumer of the pending entry, and adds the entry if it is not pending.
// It returns the entry. The caller sets its time and count.
func (g *StreamGroup) Assign(id StreamID, c *StreamConsumer) *Pending {
	p := g.Pending(id)
	switch {
	case p == nil:
		p = &Pending{}
		g.pending.put(id, p)
	case p.Consumer == c:
		return p
	default:
		p.Consumer.pending.remove(id)
	}
	p.Consumer = c
	c.pending.put(id, p)
	return p
}

// Acknowledge removes the pending entry and reports whether there was one.
func (g *StreamGroup) Acknowledge(id StreamID) bool {
	p := g.Pending(id)
	if p == nil {
		return false
	}
	g.pending.remove(id)
	p.Consumer.pending.remove(id)
	return true
}

// clone returns an independent copy.
func (g *StreamGroup) clone() *StreamGroup {
	copied := &StreamGroup{Name: g.Name, Last: g.Last, Read: g.Read}
	for _, c := range g.consumers {
		own := copied.AddConsumer(bytesOf(c.Name), c.Seen)
		c.pending.ascend(StreamID{}, func(id StreamID, p *Pending) bool {
			own.pending.put(id, &Pending{own, p.Delivered, p.Count})
			return true
		})
	}
	g.pending.ascend(StreamID{}, func(id StreamID, p *Pending) bool {
		mine, _ := copied.Consumer(bytesOf(p.Consumer.Name)).pending.get(id)
		copied.pending.put(id, mine)
		return true
	})
	return copied
}

// memoryUsage estimates the memory of the group in bytes. A sample is a consumer.
func (g *StreamGroup) memoryUsage(samples int) int64 {
	n := heapsize.Pointers[StreamGroup](1) + heapsize.Text(len(g.Name)) +
		g.pending.bytes() + g.Len()*heapsize.Pointers[Pending](1)
	n += heapsize.Pointers[*StreamConsumer](cap(g.consumers))
	return int64(n) + sampled(len(g.consumers), samples, func(i int) int {
		c := g.consumers[i]
		return heapsize.Pointers[StreamConsumer](1) + heapsize.Text(len(c.Name)) + c.pending.bytes()
	})
}
