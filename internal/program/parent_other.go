//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly || windows)

package program

import "errors"

// parentEnd fails: this system has no event for the end of another process.
func parentEnd() (<-chan struct{}, error) {
	return nil, errors.New("not available on this system")
}
