//go:build unix

package program

import (
	"os/signal"
	"syscall"
)

// ignoreSignals lets the server survive two signals, as Redis does. SIGPIPE
// comes when a log line goes to a standard output that the launcher has closed;
// the write then fails. SIGHUP comes when the terminal is closed.
func ignoreSignals() { signal.Ignore(syscall.SIGPIPE, syscall.SIGHUP) }

// stopSelf stops the process until it gets SIGCONT.
func stopSelf() { _ = syscall.Kill(syscall.Getpid(), syscall.SIGSTOP) }
