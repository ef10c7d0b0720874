package store

import (
	"math/bits"
	"sort"
	"unsafe"

	"github.com/lockredis/lockredis/expiry"
)

// This file computes what Go's allocator takes for an object. So MEMORY USAGE is what a key
// costs, and not only the bytes that the key needs.

// sizeClasses are the sizes of Go's small objects from 1024 bytes on. The smaller ones have
// regular steps, see sizeClass.
var sizeClasses = [...]uint16{
	1024, 1152, 1280, 1408, 1536, 1792, 2048, 2304, 2688, 3072, 3200, 3456, 4096, 4864, 5376,
	6144, 6528, 6784, 6912, 8192, 9472, 9728, 10240, 10880, 12288, 13568, 14336, 16384, 18432,
	19072, 20480, 21760, 24576, 27264, 28672, 32768,
}

const (
	largePage    = 8192 // a large object has whole pages
	tinyBlock    = 16   // objects without pointers that are smaller share a block
	headerFrom   = 512  // a larger object with pointers has a header
	objectHeader = 8
)

// sizeClass returns how many bytes the allocator takes for n bytes.
func sizeClass(n int) int {
	switch {
	case n <= 32:
		return roundUp(n, 8)
	case n <= 256:
		return roundUp(n, 16)
	case n <= 512:
		return roundUp(n, 32)
	case n <= 768:
		return roundUp(n, 64)
	case n <= 1024:
		return roundUp(n, 128)
	case n > int(sizeClasses[len(sizeClasses)-1]):
		return roundUp(n, largePage)
	}
	at := sort.Search(len(sizeClasses), func(i int) bool { return int(sizeClasses[i]) >= n })
	return int(sizeClasses[at])
}

// roundUp returns the least multiple of step, a power of two, that is not below n.
func roundUp(n, step int) int { return (n + step - 1) &^ (step - 1) }

// powerOfTwo returns the least power of two that is not below n, which is above 0.
func powerOfTwo(n int) int { return 1 << bits.Len(uint(n-1)) }

// textBytes returns the memory of n bytes of text. Several short texts share a block.
func textBytes(n int) int {
	if n >= tinyBlock || n == 0 {
		return sizeClass(n)
	}
	aligned := n
	switch {
	case n%8 == 0:
	case n%4 == 0:
		aligned = roundUp(n, 4)
	case n%2 == 0:
		aligned = roundUp(n, 2)
	}
	return (tinyBlock + tinyBlock/aligned - 1) / (tinyBlock / aligned)
}

// sliceBytes returns the memory of an array of n elements without pointers.
func sliceBytes[T any](n int) int {
	var t T
	return textBytes(n * int(unsafe.Sizeof(t)))
}

// pointersBytes returns the memory of an array of n elements that have pointers.
func pointersBytes[T any](n int) int {
	var t T
	size := n * int(unsafe.Sizeof(t))
	if size > headerFrom && size <= int(sizeClasses[len(sizeClasses)-1])-objectHeader {
		size += objectHeader
	}
	return sizeClass(size)
}

// bytes returns the memory of the dict without its keys and what its values point to.
func (d *dict[V]) bytes() int {
	n := pointersBytes[elem[V]](cap(d.elems)) + sliceBytes[uint32](cap(d.hashes))
	if d.index != nil {
		n += pointersBytes[hashIndex[uint32]](1) + d.index.bytes(sliceBytes[part[uint32]](1))
	}
	return n
}

// outgrown returns the memory of the arrays of one and two hashes that a small dict had before.
// They are garbage, but they share a block with the present array or with the first short key.
func (d *dict[V]) outgrown() int {
	switch room := cap(d.hashes); {
	case room == 2:
		return tinyBlock - sliceBytes[uint32](2)
	case room > 2 && len(d.elems) > 0 && len(d.elems[0].key) < tinyBlock:
		return tinyBlock
	}
	return 0
}

// bytes returns the memory of the index without its items. A part has partBytes.
func (x *hashIndex[T]) bytes(partBytes int) int {
	return len(x.dense)*partBytes + pointersBytes[*part[T]](cap(x.dense)) +
		pointersBytes[*part[T]](cap(x.parts))
}

// bytes estimates the memory of the index without its members. An inner node takes a few
// percent of what its leaves take.
func (x *zindex) bytes() int {
	const share = 64 // of a leaf, in the inner nodes
	if x.leaves <= 1 {
		return x.leaves * (pointersBytes[znode](1) + pointersBytes[ZItem](zfanout))
	}
	return x.leaves * (pointersBytes[znode](1) + pointersBytes[ZItem](zfanout) + share)
}

// bytes estimates the memory of the tree without what its values point to. It takes all
// leaves but one to be full, as they are when ids arrive in order.
func (t *idTree[V]) bytes() (n int) {
	leaf := func(keys int) int {
		room := powerOfTwo(keys)
		return pointersBytes[idNode[V]](1) + sliceBytes[StreamID](room) + pointersBytes[V](room)
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
	return pointersBytes[byte](room * each)
}

// bytes returns the memory of the deadlines of a hash's fields. The deadlines and the
// fields' names are counted, the names are those of the hash's table.
func (t *fieldTimes) bytes() int {
	if t == nil {
		return 0
	}
	n := t.due.Len()
	return pointersBytes[fieldTimes](1) + n*pointersBytes[fieldTime](1) + deadlineBytes(&t.due) +
		mapBytes[string, *fieldTime](n)
}

// mapBytes estimates the memory of a map with n keys. Each place of a map has a byte more than
// its key and value, and an eighth of the places stays free.
func mapBytes[K, V any](n int) int {
	var k K
	var v V
	return powerOfTwo(max(n+n/7, 8)) * (1 + int(unsafe.Sizeof(k)+unsafe.Sizeof(v)))
}
