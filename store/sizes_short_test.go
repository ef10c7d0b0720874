//go:build !race

// With the race detector Go's allocator gives each text a block of its own.

package store

import (
	"fmt"
	"testing"

	"github.com/lockredis/lockredis/internal/redistest"
)

// The texts are made before the heap is measured: others would share blocks with the keys'.
func TestShortTextsShareTheirBlocks(t *testing.T) {
	redistest.SkipWhenQuick(t)
	members := [][]byte{[]byte("alpha"), []byte("beta"), []byte("gamma")}
	set := func(lim *Limits) Value {
		s := new(Set)
		for _, m := range members {
			s.Add(m, lim)
		}
		return s
	}
	fields := make([][]byte, 2000)
	for i := range fields {
		fields[i] = fmt.Appendf(nil, "field-%04d", i)
	}
	hash := func(lim *Limits) Value {
		h := new(Hash)
		for _, f := range fields {
			h.Set(f, f[1:], lim)
		}
		return h
	}
	short, alpha := text(3), []byte("alpha")
	list := func(lim *Limits) Value {
		l := NewList(lim)
		l.PushBack(alpha)
		return l
	}
	for _, w := range []weighed{
		{"text", 100_000, "key:", false, func(*Limits) Value { return NewText(short) }},
		{"set", 100_000, "key:", true, set},
		{"hash", 50, "key:", false, hash},
		{"list", 100_000, "key:", false, list},
	} {
		t.Run(w.name, w.compare)
	}
}
