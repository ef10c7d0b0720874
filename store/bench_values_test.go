package store

import (
	"fmt"
	"strconv"
	"testing"
)

// benchSizes are the sizes at which times are compared. No operation may become
// slower with the size faster than Redis's does.
var benchSizes = []int{1, 1e3, 1e6}

// hashOf returns a hash of n fields, as long as the fields of a lock.
func hashOf(n int) *Hash {
	lim := DefaultLimits()
	h := new(Hash)
	for i := range n {
		h.Set(fmt.Appendf(nil, "8743c9c0-0795-4907-87fd-6c719a6b4586:%d", i), []byte("1"), &lim)
	}
	return h
}

func forSizes(b *testing.B, run func(b *testing.B, n int)) {
	for _, n := range benchSizes {
		b.Run(strconv.Itoa(n), func(b *testing.B) { b.ReportAllocs(); run(b, n) })
	}
}

func BenchmarkHashGet(b *testing.B) {
	forSizes(b, func(b *testing.B, n int) {
		h := hashOf(n)
		field := []byte("8743c9c0-0795-4907-87fd-6c719a6b4586:0")
		for b.Loop() {
			h.Get(field)
		}
	})
}

func BenchmarkHashIncrement(b *testing.B) {
	forSizes(b, func(b *testing.B, n int) {
		h := hashOf(n)
		field := []byte("8743c9c0-0795-4907-87fd-6c719a6b4586:0")
		lim := DefaultLimits()
		var digits [20]byte
		for i := int64(0); b.Loop(); i++ {
			h.SetKeepDeadline(field, strconv.AppendInt(digits[:0], i&7, 10), &lim)
		}
	})
}

func BenchmarkHashSetAndDelete(b *testing.B) {
	forSizes(b, func(b *testing.B, n int) {
		h := hashOf(n)
		lim := DefaultLimits()
		for i := 0; b.Loop(); i++ {
			field := []byte("one more field")
			h.Set(field, []byte("1"), &lim)
			h.Delete(field)
		}
	})
}

func BenchmarkHashScanStep(b *testing.B) {
	forSizes(b, func(b *testing.B, n int) {
		h := hashOf(n)
		cursor := uint64(0)
		for b.Loop() {
			cursor = h.Scan(cursor, 10, func(_, _ []byte) {})
		}
	})
}

func BenchmarkLockHash(b *testing.B) {
	b.ReportAllocs()
	field := []byte("8743c9c0-0795-4907-87fd-6c719a6b4586:1")
	lim := DefaultLimits()
	for b.Loop() {
		h := new(Hash)
		h.Set(field, []byte("1"), &lim)
	}
}

func BenchmarkSetAddAndRemove(b *testing.B) {
	forSizes(b, func(b *testing.B, n int) {
		lim := DefaultLimits()
		s := new(Set)
		for i := range n {
			s.Add(strconv.AppendInt(nil, int64(i), 10), &lim)
		}
		member := []byte("-5")
		for b.Loop() {
			s.Add(member, &lim)
			s.Remove(member)
		}
	})
}

func BenchmarkSetRandomMember(b *testing.B) {
	forSizes(b, func(b *testing.B, n int) {
		lim := DefaultLimits()
		s := new(Set)
		for i := range n {
			s.Add(fmt.Appendf(nil, "member %d", i), &lim)
		}
		var scratch [20]byte
		for i := 0; b.Loop(); i++ {
			s.At(i%n, scratch[:])
		}
	})
}

func BenchmarkPackedFindAmong512Pairs(b *testing.B) {
	h := hashOf(512)
	field := []byte("8743c9c0-0795-4907-87fd-6c719a6b4586:511")
	for b.Loop() {
		h.Get(field)
	}
}
