package expiry

import "unsafe"

// Item is the place of a Holder in an Index, embedded in the Holder. The zero Item has
// no deadline and is in no index. The deadline itself is in the index alone: every key of
// the store has an Item.
type Item struct {
	pos int32 // heap position + 1; 0: not in an index
}

// Set reports whether there is a deadline.
func (i *Item) Set() bool { return i.pos != 0 }

// Holder has an embedded Item, and so can be in an Index.
type Holder interface{ DeadlineItem() *Item }

// Index is an ordered set of deadlines. It is a heap with four children per node.
// Each Item records its heap position, so that a deadline is moved or removed
// without a search. A new lease nearly always has the latest deadline of all:
// adding it costs one comparison. The zero Index is empty and ready.
type Index[T Holder] struct {
	heap []node[T]
}

// node has the deadline of v beside it, so that comparisons do not read v.
type node[T Holder] struct {
	at int64
	v  T
}

const arity = 4 // children per node

// Len returns how many deadlines there are.
func (x *Index[T]) Len() int { return len(x.heap) }

// Add gives v the deadline at, in Unix milliseconds. It adds v to the index or
// moves it there.
func (x *Index[T]) Add(v T, at int64) {
	item := v.DeadlineItem()
	if item.pos == 0 {
		if n := len(x.heap); n == cap(x.heap) && n >= largeHeap {
			x.grow()
		}
		x.heap = append(x.heap, node[T]{})
		x.up(len(x.heap)-1, node[T]{at, v})
		return
	}
	if i := int(item.pos - 1); at < x.heap[i].at {
		x.up(i, node[T]{at, v})
	} else {
		x.down(i, node[T]{at, v})
	}
}

// grow makes room in a large heap. It grows by a sixteenth, because append would leave up to a
// fifth of it unused.
func (x *Index[T]) grow() {
	n := len(x.heap)
	x.heap = append(make([]node[T], 0, n+n/16), x.heap...)
}

const largeHeap = 4096

// Remove takes v out of the index and reports whether it was there. v has no
// deadline afterwards.
func (x *Index[T]) Remove(v T) bool {
	item := v.DeadlineItem()
	if item.pos == 0 {
		return false
	}
	i, last := int(item.pos-1), len(x.heap)-1
	moved := x.heap[last]
	x.heap[last] = node[T]{}
	x.heap = x.heap[:last]
	*item = Item{}
	if cap(x.heap) > 64 && last < cap(x.heap)/4 {
		x.heap = append(make([]node[T], 0, 2*last), x.heap...)
	}
	if i == last {
		return true
	}
	if i > 0 && moved.at < x.heap[(i-1)/arity].at {
		x.up(i, moved)
	} else {
		x.down(i, moved)
	}
	return true
}

// Room returns how many deadlines the index has memory for, and how many bytes one takes.
func (x *Index[T]) Room() (deadlines, each int) {
	return cap(x.heap), int(unsafe.Sizeof(node[T]{}))
}

// Deadline returns the deadline of v in Unix milliseconds, 0 when v is not in the index.
func (x *Index[T]) Deadline(v T) int64 {
	item := v.DeadlineItem()
	if item.pos == 0 {
		return 0
	}
	return x.heap[item.pos-1].at
}

// Next returns the earliest deadline, in Unix milliseconds. ok is false when the
// index is empty.
func (x *Index[T]) Next() (at int64, ok bool) {
	if len(x.heap) == 0 {
		return 0, false
	}
	return x.heap[0].at, true
}

// Peek returns the holder with the earliest deadline and leaves it in the index.
// The index must not be empty.
func (x *Index[T]) Peek() T { return x.heap[0].v }

// At returns one of the Len holders, for random picks: i is from 0 to Len()-1.
func (x *Index[T]) At(i int) T { return x.heap[i].v }

// PopDue takes out at most max holders with a deadline at or before now, in the
// order of their deadlines, and passes each to do. It returns how many.
func (x *Index[T]) PopDue(now int64, max int, do func(T)) (popped int) {
	for popped < max && len(x.heap) > 0 && x.heap[0].at <= now {
		v := x.heap[0].v
		x.Remove(v)
		do(v)
		popped++
	}
	return popped
}

// EachDue visits the holders with a deadline at or before now, in no order. do must not change the
// index.
func (x *Index[T]) EachDue(now int64, do func(v T, at int64)) { x.eachDue(0, now, do) }

// eachDue is EachDue for heap position i and the positions below it.
func (x *Index[T]) eachDue(i int, now int64, do func(v T, at int64)) {
	if i >= len(x.heap) || x.heap[i].at > now {
		return
	}
	do(x.heap[i].v, x.heap[i].at)
	for c := i*arity + 1; c <= i*arity+arity; c++ {
		x.eachDue(c, now, do)
	}
}

// up puts n at heap position i, or nearer to the root if its deadline is earlier
// than its parent's.
func (x *Index[T]) up(i int, n node[T]) {
	for i > 0 {
		parent := (i - 1) / arity
		if x.heap[parent].at <= n.at {
			break
		}
		x.put(i, x.heap[parent])
		i = parent
	}
	x.put(i, n)
}

// down puts n at heap position i, or below if a child has an earlier deadline.
func (x *Index[T]) down(i int, n node[T]) {
	for {
		first := i*arity + 1
		if first >= len(x.heap) {
			break
		}
		least := first
		for c := first + 1; c < min(first+arity, len(x.heap)); c++ {
			if x.heap[c].at < x.heap[least].at {
				least = c
			}
		}
		if x.heap[least].at >= n.at {
			break
		}
		x.put(i, x.heap[least])
		i = least
	}
	x.put(i, n)
}

// put stores n at heap position i and records the position in its Item.
func (x *Index[T]) put(i int, n node[T]) {
	x.heap[i] = n
	n.v.DeadlineItem().pos = int32(i + 1)
}
