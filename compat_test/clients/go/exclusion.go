package main

import (
	"sync"
	"sync/atomic"

	"github.com/lockredis/lockredis/compat_test/clients/go/check"
)

// exclude checks that goroutines exclude each other, and that each of them gets the lock.
// lock acquires it and returns what releases it, or nil when it fails.
func exclude(t *check.T, goroutines int32, lock func() (release func())) {
	var group sync.WaitGroup
	var inside, together, entered atomic.Int32
	for range goroutines {
		group.Go(func() {
			release := lock()
			if release == nil {
				return
			}
			if inside.Add(1) > 1 {
				together.Add(1)
			}
			entered.Add(1)
			inside.Add(-1)
			release()
		})
	}
	group.Wait()
	t.Equal([]int32{entered.Load(), together.Load()}, []int32{goroutines, 0})
}
