//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package program

import (
	"fmt"
	"os"
	"syscall"
)

// parentEnd returns a channel that is closed when the parent process ends. It
// waits for that event on a kqueue (NOTE_EXIT).
func parentEnd() (<-chan struct{}, error) {
	parent := os.Getppid()
	queue, err := syscall.Kqueue()
	if err != nil {
		return nil, fmt.Errorf("kqueue: %w", err)
	}
	var watch [1]syscall.Kevent_t
	syscall.SetKevent(&watch[0], parent, syscall.EVFILT_PROC, syscall.EV_ADD|syscall.EV_ONESHOT)
	watch[0].Fflags = syscall.NOTE_EXIT
	ended := make(chan struct{})
	_, err = syscall.Kevent(queue, watch[:], nil, nil)
	if err == syscall.ESRCH || err == nil && os.Getppid() != parent {
		close(ended)
		return ended, nil
	}
	if err != nil {
		return nil, fmt.Errorf("kevent: %w", err)
	}
	go func() {
		defer syscall.Close(queue)
		var event [1]syscall.Kevent_t
		for {
			if n, err := syscall.Kevent(queue, nil, event[:], nil); n == 1 || err != syscall.EINTR {
				close(ended)
				return
			}
		}
	}()
	return ended, nil
}
