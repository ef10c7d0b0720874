package store

import "github.com/lockredis/lockredis/resp"

// This file has the sizes of Redis's listpack, in bytes. Redis ends nodes of lists and of
// streams by these sizes.

// listpackEmpty is the size of a listpack without elements.
const listpackEmpty = 7

// listpackSize returns the size of an element. The digits of an integer are an integer.
func listpackSize(elem []byte) int {
	if n := len(elem); 0 < n && n < 1<<6 && elem[0] > '9' { // most elements of lists: quicker
		return n + 2
	}
	if n, ok := resp.ParseInt(elem); ok {
		return int(listpackInt(n))
	}
	return int(listpackString(len(elem)))
}

// listpackInt returns the size of an integer.
func listpackInt(n int64) int64 {
	switch {
	case 0 <= n && n < 1<<7:
		return 1 + 1
	case -1<<12 <= n && n < 1<<12:
		return 2 + 1
	case -1<<15 <= n && n < 1<<15:
		return 3 + 1
	case -1<<23 <= n && n < 1<<23:
		return 4 + 1
	case -1<<31 <= n && n < 1<<31:
		return 5 + 1
	}
	return 9 + 1
}

// listpackString returns the size of a string of n bytes that is not an integer.
func listpackString(n int) int64 {
	size := int64(n)
	switch {
	case size < 1<<6:
		size++
	case size < 1<<12:
		size += 2
	default:
		size += 5
	}
	switch { // its size again, to be read backwards
	case size <= 127:
		return size + 1
	case size < 16383:
		return size + 2
	case size < 2097151:
		return size + 3
	case size < 268435455:
		return size + 4
	}
	return size + 5
}

// listpackSize returns the size of the elements as a listpack, in bytes.
func (p Packed) listpackSize() int {
	size := listpackEmpty
	for pos := p.First(); pos >= 0; {
		var elem []byte
		elem, pos = p.Elem(pos)
		size += listpackSize(elem)
	}
	return size
}
