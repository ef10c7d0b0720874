//go:build !unix

package server

// cpuMicros returns 0: there is no portable way to read the CPU time.
func cpuMicros() (user, system int64) { return 0, 0 }
