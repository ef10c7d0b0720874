package store

import "github.com/lockredis/lockredis/internal/cluster"

// slotIndex finds the keys of a database by their slot. Only a cluster node has one: a
// DB without it has a nil slotIndex and pays one comparison when it adds or removes a
// key.
type slotIndex struct {
	slots [cluster.Slots]slotList
	nodes map[*Entry]*slotNode
}

// slotList is the keys of one slot, the newest first, as Redis keeps them.
type slotList struct {
	first *slotNode
	n     int
}

type slotNode struct {
	entry          *Entry
	newer, earlier *slotNode
}

func newSlotIndex() *slotIndex { return &slotIndex{nodes: map[*Entry]*slotNode{}} }

// of returns the list with e's slot.
func (x *slotIndex) of(e *Entry) *slotList { return &x.slots[cluster.Slot(bytesOf(e.Key()))] }

func (x *slotIndex) add(e *Entry) {
	list := x.of(e)
	node := &slotNode{entry: e, earlier: list.first}
	if list.first != nil {
		list.first.newer = node
	}
	list.first = node
	list.n++
	x.nodes[e] = node
}

func (x *slotIndex) remove(e *Entry) {
	list, node := x.of(e), x.nodes[e]
	if node.newer != nil {
		node.newer.earlier = node.earlier
	} else {
		list.first = node.earlier
	}
	if node.earlier != nil {
		node.earlier.newer = node.newer
	}
	list.n--
	delete(x.nodes, e)
}

// IndexSlots makes database 0 know its keys by slot: cluster mode has no other. It is
// called before the first key is added.
func (s *Space) IndexSlots() { s.DB(0).slots = newSlotIndex() }

// SlotLen returns the number of keys in a slot. Like Len it counts expired keys that are
// not deleted yet. db is database 0
// of a Space with IndexSlots.
func (db *DB) SlotLen(slot int) int { return db.slots.slots[slot].n }

// SlotKeys returns at most max keys of a slot, the newest first. db is database 0
// of a Space with IndexSlots.
func (db *DB) SlotKeys(slot, max int) []string {
	list := &db.slots.slots[slot]
	keys := make([]string, 0, min(max, list.n))
	for node := list.first; node != nil && len(keys) < max; node = node.earlier {
		keys = append(keys, node.entry.Key())
	}
	return keys
}
