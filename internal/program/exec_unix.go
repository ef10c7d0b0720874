//go:build unix

package program

import (
	"os"
	"os/signal"
	"slices"
	"syscall"
)

// passed are the signals that the command gets.
var passed = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}

// watchedSignals returns the signals that must not end this process. A signal that is ignored already,
// as by nohup, stays ignored, also in the command. SIGPIPE comes when a text goes to a closed
// standard error; the write then fails.
func watchedSignals() []os.Signal {
	watched := slices.DeleteFunc(slices.Clone(passed), signal.Ignored)
	return append(watched, syscall.SIGPIPE)
}

// endsStart reports whether a signal ends the start of the server.
func endsStart(sig os.Signal) bool { return sig != syscall.SIGPIPE }

// passOn sends the command a signal that this process has received. The command is in the same process
// group, so it has a signal of the terminal already.
func passOn(p *os.Process, sig os.Signal) {
	if !slices.Contains(passed, sig) {
		return
	}
	if typed := sig == syscall.SIGINT || sig == syscall.SIGQUIT; typed && inForeground() {
		return
	}
	_ = p.Signal(sig) // it may have ended
}

// terminate asks the command to end.
func terminate(p *os.Process) { _ = p.Signal(syscall.SIGTERM) }
