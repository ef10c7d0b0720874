package store

import (
	"fmt"
	"slices"
)

// check returns an error if the chunks disagree with each other, with the stream's figures
// or with their own, or the groups' pending entries with their consumers' entries.
func (s *Stream) check() (err error) {
	if err = s.chunks.check(); err != nil {
		return err
	}
	entries, last, top, first := 0, StreamID{}, StreamID{}, StreamID{}
	s.chunks.ascend(StreamID{}, func(id StreamID, c *streamChunk) bool {
		var live, dead int32
		for at := c.start(); c.next(&at); {
			if id != c.first || !s.loose && !at.dead && (!top.Less(at.id) || at.id.Less(id)) {
				err = fmt.Errorf("store: entry %v of chunk %v comes after %v", at.id, id, top)
			}
			last = at.id
			if at.dead {
				dead++
				continue
			}
			live++
			top = at.id
			if entries++; entries == 1 {
				first = at.id
			}
		}
		if !s.loose && (live != c.live || dead != c.dead) || last != c.last {
			err = fmt.Errorf("store: chunk %v has %d entries and %d deleted ones, counts %d and %d",
				id, live, dead, c.live, c.dead)
		}
		if err == nil {
			err = c.checkBack()
		}
		return err == nil
	})
	switch {
	case err != nil:
		return err
	case !s.loose && (entries != s.length || first != s.first || s.Last.Less(top)):
		return fmt.Errorf("store: a stream of %d entries from %v to %v counts %d from %v to %v",
			entries, first, top, s.length, s.first, s.Last)
	case s.nodes != 0 && s.nodes != s.countNodes():
		return fmt.Errorf("store: a stream has %d radix nodes, not %d", s.countNodes(), s.nodes)
	}
	for i, g := range s.Groups {
		if i > 0 && s.Groups[i-1].Name >= g.Name {
			return fmt.Errorf("store: group %q comes after %q", g.Name, s.Groups[i-1].Name)
		}
		if err := g.check(); err != nil {
			return err
		}
	}
	return nil
}

// checkBack returns an error unless the entries are the same backwards.
func (c *streamChunk) checkBack() error {
	var forwards, back []streamCursor
	for at := c.start(); c.next(&at); {
		forwards = append(forwards, at)
	}
	for at := c.finish(); c.prev(&at); {
		back = append(back, at)
	}
	slices.Reverse(back)
	if !slices.Equal(forwards, back) {
		return fmt.Errorf("store: chunk %v is %v forwards, %v backwards", c.first, forwards, back)
	}
	return nil
}

func (g *StreamGroup) check() (err error) {
	if err = g.pending.check(); err != nil {
		return err
	}
	n := 0
	for i, c := range g.consumers {
		if i > 0 && g.consumers[i-1].Name >= c.Name {
			return fmt.Errorf("store: consumer %q comes after %q", c.Name, g.consumers[i-1].Name)
		}
		if err = c.pending.check(); err != nil {
			return err
		}
		n += c.Len()
		c.pending.ascend(StreamID{}, func(id StreamID, p *Pending) bool {
			if p.Consumer != c || g.Pending(id) != p {
				err = fmt.Errorf("store: entry %v of consumer %q is not the group's", id, c.Name)
			}
			return err == nil
		})
	}
	if err == nil && n != g.Len() {
		err = fmt.Errorf("store: %d entries are pending, %d for the consumers", g.Len(), n)
	}
	return err
}

// check returns an error unless the keys are in order, each in the subtree that seek
// searches.
func (t *idTree[V]) check() error {
	if t.root == nil {
		if t.n != 0 {
			return fmt.Errorf("store: an empty tree counts %d keys", t.n)
		}
		return nil
	}
	n, err := t.root.check(StreamID{}, MaxStreamID)
	if err == nil && n != t.n {
		err = fmt.Errorf("store: a tree of %d keys counts %d", n, t.n)
	}
	return err
}

// check returns the number of keys below n. They must be in [from, to].
func (n *idNode[V]) check(from, to StreamID) (keys int, err error) {
	if len(n.ids) == 0 || len(n.ids) > idNodeMax || len(n.vals)+len(n.kids) != len(n.ids) {
		return 0, fmt.Errorf("store: a node has %d ids, %d values, %d kids",
			len(n.ids), len(n.vals), len(n.kids))
	}
	for i, id := range n.ids {
		if i > 0 && !n.ids[i-1].Less(id) && (n.kids == nil || i > 1) {
			return 0, fmt.Errorf("store: id %v comes after %v", id, n.ids[i-1])
		}
		if n.kids == nil {
			if id.Less(from) || to.Less(id) {
				return 0, fmt.Errorf("store: id %v is not from %v to %v", id, from, to)
			}
			continue
		}
		low, high := from, to
		if i > 0 {
			low = id
		}
		if i+1 < len(n.ids) {
			high, _ = n.ids[i+1].Prev()
		}
		below, err := n.kids[i].check(low, high)
		if err != nil {
			return 0, err
		}
		keys += below
	}
	if n.kids == nil {
		keys = len(n.ids)
	}
	return keys, nil
}
