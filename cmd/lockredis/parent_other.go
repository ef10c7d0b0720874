//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly || windows)

package main

import "errors"

func parentEnd() (<-chan struct{}, error) {
	return nil, errors.New("not available on this system")
}
