package tracking

import (
	"errors"
	"fmt"
	"slices"
)

// Client is what a client's session records, for Check.
type Client struct {
	ID       int64
	Items    int      // of the table, with the client's id
	Prefixes []string // that the client asked for
}

// Check returns an error if the table contradicts itself or the clients. stale is the number
// of items of clients that have left. Check visits every item and is for tests.
func (t *Table) Check(clients []Client, stale int) error {
	counts, items, names := map[int64]int{}, 0, int64(0)
	for i, e := range t.entries {
		if at, known := t.index[e.key]; !known || at != i {
			return fmt.Errorf("tracking: %q is at %d, its index says %d", e.key, i, at)
		}
		if len(e.ids) == 0 || !slices.IsSorted(e.ids) {
			return fmt.Errorf("tracking: the readers of %q are %d", e.key, e.ids)
		}
		for _, id := range e.ids {
			counts[id]++
		}
		items += len(e.ids)
		names += keyBytes(e.key)
	}
	if names != t.names {
		return fmt.Errorf("tracking: the keys take %d bytes, counted as %d", names, t.names)
	}
	if items != t.items || len(t.index) != len(t.entries) {
		return fmt.Errorf("tracking: %d items are counted as %d, %d keys are indexed as %d",
			items, t.items, len(t.entries), len(t.index))
	}
	for _, c := range clients {
		if counts[c.ID] != c.Items {
			return fmt.Errorf("tracking: client %d has %d items and records %d", c.ID, counts[c.ID], c.Items)
		}
		items -= c.Items
	}
	if items != stale {
		return fmt.Errorf("tracking: %d items are of clients that have left, %d are recorded", items, stale)
	}
	return nil
}

// Check returns an error if the prefixes contradict themselves or the clients.
func (p *Prefixes) Check(clients []Client) error {
	asked, lengths, bytes := 0, map[int]int{}, int64(0)
	for name, one := range p.byName {
		if one.name != name || len(one.ids) == 0 || !slices.IsSorted(one.ids) {
			return fmt.Errorf("tracking: prefix %q is %q with clients %d", name, one.name, one.ids)
		}
		asked += len(one.ids)
		lengths[len(name)]++
		bytes += prefixBytes(name)
	}
	if asked != p.ids || bytes != p.names {
		return fmt.Errorf("tracking: prefixes of %d clients take %d bytes, counted as %d and %d",
			asked, bytes, p.ids, p.names)
	}
	for _, l := range p.lengths {
		if lengths[l.bytes] != l.count {
			return fmt.Errorf("tracking: %d prefixes of %d bytes are counted as %d",
				lengths[l.bytes], l.bytes, l.count)
		}
		delete(lengths, l.bytes)
	}
	if len(lengths) > 0 {
		return fmt.Errorf("tracking: prefixes of these lengths are not counted: %v", lengths)
	}
	for _, c := range clients {
		for _, name := range c.Prefixes {
			one := p.byName[name]
			if one == nil || !slices.Contains(one.ids, c.ID) {
				return fmt.Errorf("tracking: client %d asked for prefix %q, which does not list it", c.ID, name)
			}
			asked--
		}
	}
	if asked != 0 {
		return fmt.Errorf("tracking: %d clients of prefixes have left", asked)
	}
	return nil
}

// Check checks the table and the prefixes against the sessions' own figures.
func (t *Tracker) Check() error {
	known, tracking := 0, 0
	var lists []Client
	for s := range t.env.Clients.Each {
		if s.Tracking == nil {
			continue
		}
		if known++; s.Tracks() {
			tracking++
		}
		lists = append(lists, Client{
			ID: s.ID, Items: s.Tracking.Items, Prefixes: s.Tracking.Prefixes,
		})
	}
	switch {
	case known != t.known || tracking != t.clients || t.active != (known > 0):
		return fmt.Errorf("tracking: %d of %d clients are counted as %d of %d, active %v",
			tracking, known, t.clients, t.known, t.active)
	case len(t.waiting) > 0 || t.prefixes.Dirty():
		return errors.New("tracking: an invalidation was not sent")
	}
	if err := t.table.Check(lists, t.stale); err != nil {
		return err
	}
	return t.prefixes.Check(lists)
}
