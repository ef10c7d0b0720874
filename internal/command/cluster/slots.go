package cluster

import (
	"github.com/lockredis/lockredis/internal/cluster"
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

var errSlotRange = resp.Error("ERR Invalid or out of range slot")

func clusterAddslots(c *command.Ctx, args resp.Args) resp.Reply {
	return changeSlots(c, args, singleSlots, true)
}

func clusterDelslots(c *command.Ctx, args resp.Args) resp.Reply {
	return changeSlots(c, args, singleSlots, false)
}

func clusterAddslotsrange(c *command.Ctx, args resp.Args) resp.Reply {
	return changeSlots(c, args, slotRanges, true)
}

func clusterDelslotsrange(c *command.Ctx, args resp.Args) resp.Reply {
	return changeSlots(c, args, slotRanges, false)
}

func clusterFlushslots(c *command.Ctx, _ resp.Args) resp.Reply {
	if c.DB.Len() > 0 {
		return errFlushSlots
	}
	before := c.Cluster.View()
	c.Cluster.Change(func(_ *cluster.View, self *cluster.Node) { self.Slots = cluster.Set{} })
	c.ViewChanged(before)
	return resp.OK
}

// slotParser calls add for each range of slots in args. It returns its error or add's.
type slotParser func(c *command.Ctx, args resp.Args, add func(cluster.Range) resp.Reply) resp.Reply

// changeSlots adds the slots that args name to the node, or removes them: all or none.
//
// Differs from Redis: there a node that does not own a slot can forget who does, until the owner
// tells it again. Here nothing happens then.
func changeSlots(c *command.Ctx, args resp.Args, parse slotParser, add bool) resp.Reply {
	var named cluster.Set
	before := c.Cluster.View()
	failure := parse(c, args, func(r cluster.Range) resp.Reply {
		for slot := r.First; slot <= r.Last; slot++ {
			owner := before.Owner(slot)
			switch {
			case add && owner != nil:
				return resp.Errorf("ERR Slot %d is already busy", slot)
			case !add && owner == nil:
				return resp.Errorf("ERR Slot %d is already unassigned", slot)
			case named.Has(slot):
				return resp.Errorf("ERR Slot %d specified multiple times", slot)
			}
			named.Add(slot)
		}
		return resp.NoReply
	})
	if failure.IsError() {
		return failure
	}
	c.Cluster.Change(func(v *cluster.View, self *cluster.Node) {
		for r := range named.Ranges() {
			for slot := r.First; slot <= r.Last; slot++ {
				switch {
				case !add:
					self.Slots.Remove(slot)
				case v.Owner(slot) == nil:
					self.Slots.Add(slot)
				}
			}
		}
	})
	if add {
		for r := range named.Ranges() {
			for slot := r.First; slot <= r.Last; slot++ {
				delete(c.Cluster.Importing, slot)
			}
		}
	}
	c.ViewChanged(before)
	return resp.OK
}

// singleSlots reads the slots of ADDSLOTS and DELSLOTS. All are parsed before the first
// is checked.
func singleSlots(_ *command.Ctx, args resp.Args, add func(cluster.Range) resp.Reply) resp.Reply {
	for _, arg := range args[2:] {
		if _, ok := slotArg(arg); !ok {
			return errSlotRange
		}
	}
	for _, arg := range args[2:] {
		slot, _ := slotArg(arg)
		if failure := add(cluster.Range{First: slot, Last: slot}); failure.IsError() {
			return failure
		}
	}
	return resp.NoReply
}

// slotRanges reads the pairs of ADDSLOTSRANGE and DELSLOTSRANGE. Each is checked before
// the next is parsed.
func slotRanges(c *command.Ctx, args resp.Args, add func(cluster.Range) resp.Reply) resp.Reply {
	if len(args)%2 != 0 {
		return resp.ErrArity(c.Cmd.Name)
	}
	for i := 2; i < len(args); i += 2 {
		first, ok := slotArg(args[i])
		last, ok2 := slotArg(args[i+1])
		switch {
		case !ok || !ok2:
			return errSlotRange
		case first > last:
			return resp.Errorf("ERR start slot number %d is greater than end slot number %d", first, last)
		}
		if failure := add(cluster.Range{First: first, Last: last}); failure.IsError() {
			return failure
		}
	}
	return resp.NoReply
}

func slotArg(arg []byte) (slot int, ok bool) {
	n, isInt := resp.ParseInt(arg)
	return int(n), isInt && n >= 0 && n < cluster.Slots
}
