//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package program

import (
	"fmt"
	"syscall"
)

// watchProcess calls end when a process ends, at once if it has ended already. It waits for
// that event on a kqueue (NOTE_EXIT).
func watchProcess(pid int, end func()) error {
	queue, err := syscall.Kqueue()
	if err != nil {
		return fmt.Errorf("kqueue: %w", err)
	}
	var watch [1]syscall.Kevent_t
	syscall.SetKevent(&watch[0], pid, syscall.EVFILT_PROC, syscall.EV_ADD|syscall.EV_ONESHOT)
	watch[0].Fflags = syscall.NOTE_EXIT
	if _, err := syscall.Kevent(queue, watch[:], nil, nil); err != nil {
		syscall.Close(queue)
		if err == syscall.ESRCH {
			end()
			return nil
		}
		return fmt.Errorf("kevent: %w", err)
	}
	go func() {
		defer syscall.Close(queue)
		var event [1]syscall.Kevent_t
		for {
			if n, err := syscall.Kevent(queue, nil, event[:], nil); n == 1 || err != syscall.EINTR {
				end()
				return
			}
		}
	}()
	return nil
}
