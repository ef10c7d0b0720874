package awake

import (
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"unsafe"
)

const (
	awakeArg  = "-keep-awake"
	schedIdle = 5 // SCHED_IDLE, see sched(7)
)

// Keep starts a process for each CPU and returns the function that ends them.
func Keep() (stop func(), err error) {
	var stops []func()
	stop = func() {
		for _, s := range stops {
			s()
		}
	}
	self, err := os.Executable()
	if err != nil {
		return stop, err
	}
	for range runtime.NumCPU() {
		cmd := exec.Command(self, awakeArg)
		stdin, err := cmd.StdinPipe() // the process ends when this pipe closes
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			stop()
			return func() {}, err
		}
		stops = append(stops, func() { stdin.Close(); _ = cmd.Wait() })
	}
	return stop, nil
}

// SpinIfAsked does not return in a process that Keep started. In any other process it
// returns at once.
func SpinIfAsked() {
	if len(os.Args) != 2 || os.Args[1] != awakeArg {
		return
	}
	runtime.LockOSThread()
	priority := int32(0)
	if _, _, errno := syscall.Syscall(syscall.SYS_SCHED_SETSCHEDULER, 0, schedIdle,
		uintptr(unsafe.Pointer(&priority))); errno != 0 {
		os.Exit(1)
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	for spun := uint64(0); ; spun++ { // the loop only keeps the CPU busy
	}
}
