//go:build linux || freebsd

package program

import (
	"os/exec"
	"syscall"
)

// endWithParent has the system kill the command when the thread ends that starts it.
func endWithParent(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
