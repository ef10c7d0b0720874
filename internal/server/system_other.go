//go:build !linux

package server

import "runtime"

// residentMemory returns 0: what is in memory is not known.
func residentMemory() int64 { return 0 }

func systemName() string { return runtime.GOOS + " " + runtime.GOARCH }
