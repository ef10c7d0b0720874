package redistest

import (
	"fmt"
	"io"
	"os/exec"
)

// leash kills a server when this process dies without a Stop: a test that ran into its
// time limit, a fuzz worker that was killed. It is a shell that reads from a pipe. The
// system closes the pipe when this process dies. A nil leash does nothing.
type leash struct {
	shell *exec.Cmd
	pipe  io.WriteCloser
}

// leashScript reads the server's process id, then waits for the end of its input. Its
// argument is the temporary directory to remove, or empty.
const leashScript = `read pid && { read end; kill -9 "$pid"; [ -z "$1" ] || rm -rf "$1"; }`

// newLeash starts the shell before the server runs. It returns nil on a system without
// a shell. dir is the server's temporary directory, or empty.
func newLeash(dir string) (*leash, error) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		return nil, nil
	}
	l := &leash{shell: exec.Command(sh, "-c", leashScript, "leash", dir)}
	if l.pipe, err = l.shell.StdinPipe(); err != nil {
		return nil, err
	}
	return l, l.shell.Start()
}

// tie names the process to kill.
func (l *leash) tie(pid int) {
	if l != nil {
		fmt.Fprintln(l.pipe, pid)
	}
}

// drop ends the shell, which then kills nothing.
func (l *leash) drop() {
	if l != nil {
		_ = l.shell.Process.Kill()
		_ = l.shell.Wait()
	}
}
