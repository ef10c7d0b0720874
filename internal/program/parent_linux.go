package program

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// sysPidfdOpen is the number of the system call pidfd_open, the same on all
// architectures.
const sysPidfdOpen = 434

// parentEnd returns a channel that is closed when the parent process ends. It
// waits on a process descriptor (Linux 5.3). The kernel's parent-death signal is
// no substitute: it comes when the thread ends that started this process, and a
// JVM ends such threads while it runs.
func parentEnd() (<-chan struct{}, error) {
	parent := os.Getppid()
	if parent == 0 {
		return nil, errors.New("the parent process is outside of this container")
	}
	fd, _, errno := syscall.Syscall(sysPidfdOpen, uintptr(parent), syscall.O_NONBLOCK, 0)
	ended := make(chan struct{})
	if errno == syscall.ESRCH || errno == 0 && os.Getppid() != parent {
		close(ended)
		return ended, nil
	}
	if errno != 0 {
		return nil, fmt.Errorf("pidfd_open: %w", errno)
	}
	file := os.NewFile(fd, "parent")
	conn, err := file.SyscallConn()
	if err != nil {
		return nil, err
	}
	go func() {
		defer file.Close()
		if awaitEnd(conn, func() bool { return os.Getppid() != parent }) == nil {
			close(ended)
		}
	}()
	return ended, nil
}

// awaitEnd waits until the process of a descriptor ends: the descriptor becomes readable.
// Read waits for a new event and forgets one from before its call, so awaitEnd asks gone
// first whether the process has ended.
func awaitEnd(conn syscall.RawConn, gone func() bool) error {
	polled := false
	return conn.Read(func(uintptr) bool {
		was := polled
		polled = true
		return was || gone()
	})
}
