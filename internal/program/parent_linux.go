package program

import (
	"fmt"
	"os"
	"syscall"
	"unsafe"
)

// sysPidfdOpen is the number of the system call pidfd_open, the same on all
// architectures.
const sysPidfdOpen = 434

// watchProcess calls end when a process ends, at once if it has ended already. It
// waits on a process descriptor (Linux 5.3). The kernel's parent-death signal is
// no substitute: it comes when the thread ends that started this process, and a
// JVM ends such threads while it runs.
func watchProcess(pid int, end func()) error {
	fd, _, errno := syscall.Syscall(sysPidfdOpen, uintptr(pid), syscall.O_NONBLOCK, 0)
	if errno == syscall.ESRCH {
		end()
		return nil
	}
	if errno != 0 {
		return fmt.Errorf("pidfd_open: %w", errno)
	}
	file := os.NewFile(fd, "process")
	conn, err := file.SyscallConn()
	if err != nil {
		return err
	}
	go func() {
		defer file.Close()
		if awaitEnd(conn) == nil {
			end()
		}
	}()
	return nil
}

// awaitEnd waits until the process of a descriptor ends: the descriptor becomes readable.
// Read waits for a new event and forgets one from before its call, so awaitEnd polls first.
// The process may have ended and still have an id, because its parent has not waited for it.
func awaitEnd(conn syscall.RawConn) error {
	polled := false
	return conn.Read(func(fd uintptr) bool {
		was := polled
		polled = true
		return was || readable(fd)
	})
}

// readable reports whether a descriptor can be read now.
func readable(fd uintptr) bool {
	const pollIn = 1
	poll := struct {
		fd              int32
		events, returns int16
	}{int32(fd), pollIn, 0}
	var now syscall.Timespec
	n, _, _ := syscall.Syscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&poll)), 1,
		uintptr(unsafe.Pointer(&now)), 0, 0, 0)
	return n == 1
}
