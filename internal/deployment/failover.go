package deployment

import (
	"context"
	"errors"
	"fmt"
)

// Failover promotes a node, and returns its index. i is the node, or -1 for the replica with the most
// data, and of several the first. It waits for no timeout.
//
// Before, the replicas get what their links let through. The Sentinels carry out the failover, if there
// are any: all of them that run know the new primary afterwards. The other nodes follow it, and so does
// the old primary, unless it has ended, or cannot reach the new one or the Sentinels: then it leads, too.
func (d *Deployment) Failover(ctx context.Context, i int) (promoted int, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	d.mu.Lock()
	defer d.mu.Unlock()
	from := d.primary()
	if err := d.Settle(ctx, from); err != nil {
		return 0, err
	}
	if i < 0 {
		i, err = d.best()
	} else {
		err = d.fit(i)
	}
	if err != nil {
		return 0, err
	}
	if err := d.promote(ctx, i); err != nil {
		return 0, err
	}
	d.leader = i
	for j := range d.nodes {
		switch {
		case j == i || d.down(j) || d.links.IsCut(i, j):
			continue
		case d.monitor() != nil && d.links.IsCut(j, Sentinels):
			continue // no Sentinel reaches it
		}
		if err := d.follow(j, i); err != nil {
			return 0, err
		}
		if err := d.awaitLink(ctx, i, j); err != nil {
			return 0, err
		}
	}
	return i, nil
}

// fit returns an error if a node cannot be promoted.
func (d *Deployment) fit(i int) error {
	switch {
	case d.down(i):
		return fmt.Errorf("node %d does not run", i)
	case d.leads(i):
		return fmt.Errorf("node %d is a primary", i)
	}
	return nil
}

// best returns the replica with the most data.
func (d *Deployment) best() (best int, err error) {
	best, most := -1, int64(-1)
	for i := range d.nodes {
		_, _, offset, _ := d.nodes[i].Inside.Standing()
		if d.fit(i) == nil && offset > most && !(d.monitor() != nil && d.links.IsCut(i, Sentinels)) {
			best, most = i, offset
		}
	}
	if best < 0 {
		return 0, errors.New("no replica can be promoted")
	}
	return best, nil
}

// promote makes a node a primary, by the Sentinels if there are any.
func (d *Deployment) promote(ctx context.Context, i int) error {
	lead := d.monitor()
	if lead == nil {
		return d.follow(i, -1)
	}
	if err := lead.Failover(ctx, d.nodes[i].Addr); err != nil {
		return err
	}
	for _, m := range d.monitors {
		if m == lead || m.Running() != nil {
			continue
		}
		if err := m.AwaitAddr(ctx, d.nodes[i].Addr); err != nil {
			return fmt.Errorf("a Sentinel does not name the new primary %s: %w", d.nodes[i].Addr, err)
		}
	}
	return nil
}
