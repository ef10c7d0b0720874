package store

import (
	"math/bits"

	"github.com/lockredis/lockredis/expiry"
	"github.com/lockredis/lockredis/internal/heapsize"
)

// This file computes the memory of the store's indexes.

// bytes returns the memory of the dict without its keys and what its values point to.
func (d *dict[V]) bytes() int {
	n := heapsize.Pointers[elem[V]](cap(d.elems)) + heapsize.Slice[uint32](cap(d.hashes))
	if d.index != nil {
		n += heapsize.Pointers[hashIndex[uint32]](1) + d.index.bytes(heapsize.Slice[part[uint32]](1))
	}
	return n
}

// outgrown returns the memory of the arrays of one and two hashes that a small dict had before.
// They are garbage, but they share a block with the present array or with the first short key.
func (d *dict[V]) outgrown() int {
	switch room := cap(d.hashes); {
	case room == 2:
		return heapsize.TinyBlock - heapsize.Slice[uint32](2)
	case room > 2 && len(d.elems) > 0 && len(d.elems[0].key) < heapsize.TinyBlock:
		return heapsize.TinyBlock
	}
	return 0
}

// bytes returns the memory of the index without its items. A part has partBytes.
func (x *hashIndex[T]) bytes(partBytes int) int {
	return len(x.dense)*partBytes + heapsize.Pointers[*part[T]](cap(x.dense)) +
		heapsize.Pointers[*part[T]](cap(x.parts))
}

// bytes estimates the memory of the index without its members. An inner node takes a few
// percent of what its leaves take.
func (x *zindex) bytes() int {
	const share = 64 // of a leaf, in the inner nodes
	if x.leaves <= 1 {
		return x.leaves * (heapsize.Pointers[znode](1) + heapsize.Pointers[ZItem](zfanout))
	}
	return x.leaves * (heapsize.Pointers[znode](1) + heapsize.Pointers[ZItem](zfanout) + share)
}

// bytes estimates the memory of the tree without what its values point to. It takes all
// leaves but one to be full, as they are when ids arrive in order.
func (t *idTree[V]) bytes() (n int) {
	leaf := func(keys int) int {
		room := 1 << bits.Len(uint(keys-1)) // append doubles it
		return heapsize.Pointers[idNode[V]](1) + heapsize.Slice[StreamID](room) + heapsize.Pointers[V](room)
	}
	if full := t.n / idNodeMax; full > 0 {
		const share = 32 // of a leaf, in the inner nodes: an id and a pointer, and free room
		n = full * (leaf(idNodeMax) + share)
	}
	if rest := t.n % idNodeMax; rest > 0 {
		n += leaf(rest)
	}
	return n
}

// deadlineBytes returns the memory of an index of deadlines without what they belong to.
func deadlineBytes[T expiry.Holder](x *expiry.Index[T]) int {
	room, each := x.Room()
	return heapsize.Pointers[byte](room * each)
}

// bytes returns the memory of the deadlines of a hash's fields. The deadlines and the
// fields' names are counted, the names belong to the hash's table.
func (t *fieldTimes) bytes() int {
	if t == nil {
		return 0
	}
	n := t.due.Len()
	return heapsize.Pointers[fieldTimes](1) + n*heapsize.Pointers[fieldTime](1) + deadlineBytes(&t.due) +
		heapsize.Map[string, *fieldTime](n)
}
