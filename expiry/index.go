package expiry

// Item is one thing's deadline, embedded in the thing. Its zero value has no
// deadline and is in no index.
//
// The time is kept in halves: an int64 would bring four bytes of padding, and
// with them each of the store's entries to the next size of allocation.
type Item struct {
	low, high uint32
	pos       int32 // place in the heap + 1; 0: not in an index
}

// At returns the deadline in Unix milliseconds, or 0 when there is none.
func (i *Item) At() int64 { return int64(uint64(i.high)<<32 | uint64(i.low)) }

// Set reports whether there is a deadline.
func (i *Item) Set() bool { return i.pos != 0 }

func (i *Item) put(at int64) { i.low, i.high = uint32(at), uint32(at>>32) }

// Holder is a thing with a deadline.
type Holder interface{ DeadlineItem() *Item }

// Index is an ordered set of deadlines: a heap of four children a node, whose
// items know their places, so that a deadline is moved or removed without a
// search. Adding the latest deadline, which a lock's lease nearly always is,
// costs one comparison. The zero value is ready.
type Index[T Holder] struct {
	heap []node[T]
}

type node[T Holder] struct {
	at int64
	v  T
}

const arity = 4

// Len returns how many deadlines there are.
func (x *Index[T]) Len() int { return len(x.heap) }

// Add sets v's deadline, in Unix milliseconds, adding v or moving it.
func (x *Index[T]) Add(v T, at int64) {
	item := v.DeadlineItem()
	if item.pos == 0 {
		x.heap = append(x.heap, node[T]{})
		item.put(at)
		x.up(len(x.heap)-1, node[T]{at, v})
		return
	}
	earlier := at < item.At()
	item.put(at)
	if i := int(item.pos - 1); earlier {
		x.up(i, node[T]{at, v})
	} else {
		x.down(i, node[T]{at, v})
	}
}

// Remove takes v's deadline away and reports whether it had one.
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

// Next returns the earliest deadline; ok is false when there is none.
func (x *Index[T]) Next() (at int64, ok bool) {
	if len(x.heap) == 0 {
		return 0, false
	}
	return x.heap[0].at, true
}

// Peek returns the thing whose deadline is the earliest without taking it out.
// It must not be called on an empty index.
func (x *Index[T]) Peek() T { return x.heap[0].v }

// PopDue takes out at most max things whose deadline is now or earlier, in the
// order of their deadlines, and passes each to do.
func (x *Index[T]) PopDue(now int64, max int, do func(T)) (popped int) {
	for popped < max && len(x.heap) > 0 && x.heap[0].at <= now {
		v := x.heap[0].v
		x.Remove(v)
		do(v)
		popped++
	}
	return popped
}

// Clear forgets all deadlines and leaves the items as if never added.
func (x *Index[T]) Clear() {
	for _, n := range x.heap {
		*n.v.DeadlineItem() = Item{}
	}
	x.heap = nil
}

// up places n at i or above.
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

// down places n at i or below.
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

func (x *Index[T]) put(i int, n node[T]) {
	x.heap[i] = n
	n.v.DeadlineItem().pos = int32(i + 1)
}
