//go:build unix

package server

import "syscall"

// cpuMicros returns the process's CPU time in µs, in user code and in the
// kernel.
func cpuMicros() (user, system int64) {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0, 0
	}
	return usage.Utime.Nano() / 1000, usage.Stime.Nano() / 1000
}
