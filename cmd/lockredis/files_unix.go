//go:build unix

package main

import (
	"math"
	"sort"
	"syscall"
)

// raiseFileLimit lets the process open as many files, or as many of them as the
// system grants, and returns how many that are. A limit that is higher stays.
func raiseFileLimit(wanted uint64) uint64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return math.MaxInt32 // unknown: accept copes with having none left
	}
	has := uint64(limit.Cur)
	if has >= wanted {
		return wanted
	}
	granted := func(more int) bool {
		raised := limit
		put(&raised.Cur, has+uint64(more))
		put(&raised.Max, max(has+uint64(more), uint64(limit.Max)))
		if syscall.Setrlimit(syscall.RLIMIT_NOFILE, &raised) != nil {
			return false
		}
		var got syscall.Rlimit // macOS may give less, and say nothing
		return syscall.Getrlimit(syscall.RLIMIT_NOFILE, &got) == nil && uint64(got.Cur) >= has+uint64(more)
	}
	if granted(int(wanted - has)) {
		return wanted
	}
	refused := sort.Search(int(wanted-has), func(more int) bool { return !granted(more) })
	granted(refused - 1) // the last that was tried may be less
	return has + uint64(refused-1)
}

// put sets a limit, whose type differs among the systems.
func put[T int64 | uint64](to *T, n uint64) { *to = T(n) }
