//go:build unix

package program

import (
	"math"
	"sort"
	"syscall"
)

// raiseFileLimit raises the limit of open files to wanted, or as near to it as
// the system allows. It returns wanted or the lower limit that it reached. It
// never lowers the limit.
func raiseFileLimit(wanted uint64) uint64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return math.MaxInt32 // unknown: accept retries when no file is left
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
		var got syscall.Rlimit // macOS may set less without an error
		err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &got)
		return err == nil && uint64(got.Cur) >= has+uint64(more)
	}
	if granted(int(wanted - has)) {
		return wanted
	}
	refused := sort.Search(int(wanted-has), func(more int) bool { return !granted(more) })
	granted(refused - 1) // the search may have set a lower limit last
	return has + uint64(refused-1)
}

// put assigns n to a field of syscall.Rlimit. Its type depends on the system.
func put[T int64 | uint64](to *T, n uint64) { *to = T(n) }
