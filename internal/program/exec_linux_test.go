package program

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// A Ctrl-C sends SIGINT to all processes in the terminal's foreground. A second one ends many programs at
// once that clean up after the first.
func TestACtrlCReachesTheCommandOnce(t *testing.T) {
	terminal, line := openTerminal(t)
	cmd := exec.Command("lockredis", "exec", "--", "sh", "-c", `trap 'n=$((n+1)); echo got $n' INT
		echo ready
		until [ "$line" = end ]; do read line; done
		echo $n in all`)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = line, line, line
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line.Close()
	defer cmd.Wait()
	defer cmd.Process.Kill()
	type step struct{ awaited, typed string }
	steps := []step{{"ready", "\x03"}, {"got 1", "end\n"}, {"1 in all", ""}}
	out := bufio.NewScanner(terminal)
	for out.Scan() {
		if !strings.HasSuffix(strings.TrimSpace(out.Text()), steps[0].awaited) {
			continue
		}
		fmt.Fprint(terminal, steps[0].typed)
		if steps = steps[1:]; len(steps) == 0 {
			return
		}
	}
	t.Errorf("the command does not print %q", steps[0].awaited)
}

// openTerminal returns a terminal: what a person types and reads, and the end of a process.
func openTerminal(t *testing.T) (person, process *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { person.Close() })
	var number, locked int32
	for request, arg := range map[uintptr]*int32{syscall.TIOCGPTN: &number, syscall.TIOCSPTLCK: &locked} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, person.Fd(), request, uintptr(unsafe.Pointer(arg))); errno != 0 {
			t.Fatal(errno)
		}
	}
	process, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	return person, process
}
