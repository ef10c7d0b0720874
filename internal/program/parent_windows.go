package program

import (
	"fmt"
	"os"
	"syscall"
)

// parentEnd returns a channel that is closed when the parent process ends. It
// waits on the process's handle, which Windows signals at that moment.
func parentEnd() (<-chan struct{}, error) {
	handle, err := syscall.OpenProcess(syscall.SYNCHRONIZE, false, uint32(os.Getppid()))
	ended := make(chan struct{})
	if err == syscall.Errno(87) { // no such process
		close(ended)
		return ended, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open the parent process: %w", err)
	}
	go func() {
		defer syscall.CloseHandle(handle)
		syscall.WaitForSingleObject(handle, syscall.INFINITE)
		close(ended)
	}()
	return ended, nil
}
