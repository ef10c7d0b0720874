//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package program

import (
	"os"
	"syscall"
	"unsafe"
)

// inForeground reports whether this process is in the foreground of its terminal: a Ctrl-C there then
// is a SIGINT for all processes of its group. It returns false without a terminal.
func inForeground() bool {
	terminal, err := os.OpenFile("/dev/tty", os.O_RDONLY|syscall.O_NOCTTY, 0)
	if err != nil {
		return false
	}
	defer terminal.Close()
	var group int32
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, terminal.Fd(), syscall.TIOCGPGRP, uintptr(unsafe.Pointer(&group)))
	return errno == 0 && int(group) == syscall.Getpgrp()
}
