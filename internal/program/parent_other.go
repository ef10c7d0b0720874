//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly || windows)

package program

import "errors"

// watchProcess fails: this system has no event for the end of another process.
func watchProcess(int, func()) error { return errors.New("not available on this system") }
