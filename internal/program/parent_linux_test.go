package program

import (
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestTheEndOfAProcessIsSeenBeforeAndDuringTheWait(t *testing.T) {
	for _, when := range []string{"before", "before, and its parent does not wait for it", "during"} {
		t.Run(when, func(t *testing.T) {
			cmd := exec.Command("cat")
			stdin, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			fd, _, errno := syscall.Syscall(sysPidfdOpen, uintptr(cmd.Process.Pid), syscall.O_NONBLOCK, 0)
			if errno != 0 {
				stdin.Close()
				cmd.Wait()
				t.Skipf("this system has no pidfd_open: %v", errno)
			}
			file := os.NewFile(fd, "child")
			defer file.Close()
			conn, err := file.SyscallConn()
			if err != nil {
				t.Fatal(err)
			}
			end := sync.OnceFunc(func() {
				stdin.Close()
				cmd.Wait()
			})
			defer end()
			switch when {
			case "before":
				end()
			case "before, and its parent does not wait for it":
				stdin.Close()
				for !readable(fd) {
					time.Sleep(time.Millisecond) // another process ends
				}
			}
			ended := make(chan error, 1)
			go func() {
				ended <- awaitEnd(conn)
			}()
			if when == "during" {
				select {
				case err := <-ended:
					t.Fatalf("the process runs: %v", err)
				default:
				}
				end()
			}
			select {
			case err := <-ended:
				if err != nil {
					t.Error(err)
				}
			case <-time.After(time.Minute):
				t.Error("the end is not seen")
			}
		})
	}
}
