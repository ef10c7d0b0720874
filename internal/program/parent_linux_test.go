package program

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

func TestTheEndOfAProcessIsSeenBeforeAndDuringTheWait(t *testing.T) {
	for name, before := range map[string]bool{"before": true, "during": false} {
		t.Run(name, func(t *testing.T) {
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
			end := func() {
				stdin.Close()
				cmd.Wait()
			}
			if before {
				end()
			}
			ended := make(chan error, 1)
			go func() {
				ended <- awaitEnd(conn, func() bool {
					return syscall.Kill(cmd.Process.Pid, 0) == syscall.ESRCH
				})
			}()
			if !before {
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
