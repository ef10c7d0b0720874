//go:build unix

package program

import (
	"io"
	"os"
	"os/exec"
	"syscall"
)

// detaches says that this system has daemonize.
const detaches = true

// startDaemon starts the program again as a daemon, in a session of its own and with /dev/null
// for the standard streams. It returns the pipe of the daemon's report. wait waits for the end
// of the daemon.
func startDaemon(sum string, input []byte) (status io.ReadCloser, wait func() error, err error) {
	executable, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	readStatus, writeStatus, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	readInput, writeInput, err := os.Pipe()
	if err != nil {
		readStatus.Close()
		writeStatus.Close()
		return nil, nil, err
	}
	command := exec.Cmd{
		Path: executable, Args: os.Args, Env: append(os.Environ(), daemonVariable+"="+sum),
		ExtraFiles:  []*os.File{writeStatus, readInput}, // daemonStatus, daemonInput
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	err = command.Start()
	writeStatus.Close()
	readInput.Close()
	if err != nil {
		readStatus.Close()
		writeInput.Close()
		return nil, nil, err
	}
	go func() {
		_, _ = writeInput.Write(input) // a daemon that has ended does not read it
		writeInput.Close()
	}()
	return readStatus, command.Wait, nil
}
