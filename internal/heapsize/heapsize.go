// Package heapsize computes what Go's allocator takes for objects. So a figure of memory is what
// something costs, and not only the bytes that it needs.
package heapsize

import (
	"math/bits"
	"sort"
	"unsafe"
)

// sizeClasses are the sizes of Go's small objects from 1024 bytes on. The smaller ones have
// regular steps, see Class.
var sizeClasses = [...]uint16{
	1024, 1152, 1280, 1408, 1536, 1792, 2048, 2304, 2688, 3072, 3200, 3456, 4096, 4864, 5376,
	6144, 6528, 6784, 6912, 8192, 9472, 9728, 10240, 10880, 12288, 13568, 14336, 16384, 18432,
	19072, 20480, 21760, 24576, 27264, 28672, 32768,
}

const (
	largePage    = 8192 // a large object has whole pages
	headerFrom   = 512  // a larger object with pointers has a header
	objectHeader = 8
)

// TinyBlock is the size of a block that smaller objects without pointers share.
const TinyBlock = 16

// Class returns how many bytes the allocator takes for n bytes.
func Class(n int) int {
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

// Text returns the memory of n bytes of text. Several short texts share a block.
func Text(n int) int {
	if n >= TinyBlock || n == 0 {
		return Class(n)
	}
	aligned := n
	switch {
	case n%8 == 0:
	case n%4 == 0:
		aligned = roundUp(n, 4)
	case n%2 == 0:
		aligned = roundUp(n, 2)
	}
	return (TinyBlock + TinyBlock/aligned - 1) / (TinyBlock / aligned)
}

// Slice returns the memory of an array of n elements without pointers.
func Slice[T any](n int) int {
	var t T
	return Text(n * int(unsafe.Sizeof(t)))
}

// Pointers returns the memory of an array of n elements that have pointers.
func Pointers[T any](n int) int {
	var t T
	size := n * int(unsafe.Sizeof(t))
	if size > headerFrom && size <= int(sizeClasses[len(sizeClasses)-1])-objectHeader {
		size += objectHeader
	}
	return Class(size)
}

// Map estimates the memory of a map with n keys. Each place of a map has a byte more than
// its key and value, and an eighth of the places stays free.
func Map[K, V any](n int) int {
	var k K
	var v V
	return powerOfTwo(max(n+n/7, 8)) * (1 + int(unsafe.Sizeof(k)+unsafe.Sizeof(v)))
}

// MapEntry estimates the memory of an entry of a map that grows one by one: on average a third of
// its places are free.
func MapEntry[K, V any]() int {
	var k K
	var v V
	return (1 + int(unsafe.Sizeof(k)+unsafe.Sizeof(v))) * 3 / 2
}
