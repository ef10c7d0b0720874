package program

import (
	"fmt"
	"syscall"
)

// watchProcess calls end when a process ends, at once if it has ended already. It waits on the
// process's handle, which Windows signals at that moment.
func watchProcess(pid int, end func()) error {
	handle, err := syscall.OpenProcess(syscall.SYNCHRONIZE, false, uint32(pid))
	if err == syscall.Errno(87) { // no such process
		end()
		return nil
	}
	if err != nil {
		return fmt.Errorf("open process %d: %w", pid, err)
	}
	go func() {
		defer syscall.CloseHandle(handle)
		syscall.WaitForSingleObject(handle, syscall.INFINITE)
		end()
	}()
	return nil
}
