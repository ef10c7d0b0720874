//go:build !unix

package program

import "os"

// watchedSignals returns the signals that must not end this process.
func watchedSignals() []os.Signal { return []os.Signal{os.Interrupt} }

// endsStart reports whether a signal ends the start of the server.
func endsStart(os.Signal) bool { return true }

// passOn does nothing: Windows sends Ctrl-C to all processes of the console.
func passOn(*os.Process, os.Signal) {}

// terminate ends the command: Windows has no signal that asks for the end.
func terminate(p *os.Process) { _ = p.Kill() }
