//go:build unix

package program

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// entrypoint is the first program of a container, under the name that it has in the
// image of Redis. It replaces itself with the command. Options or a configuration file
// alone are arguments for redis-server. It returns only after an error, with the exit
// status that a shell would have.
func entrypoint(command []string) int {
	command = ofServer(command)
	if filepath.Base(command[0]) == "redis-server" {
		// The files and sockets of the server are for its user only, unless the
		// container was started with another mask.
		if mask := syscall.Umask(0o077); mask != 0o022 {
			syscall.Umask(mask)
		}
	}
	path, err := exec.LookPath(command[0])
	if err == nil {
		err = syscall.Exec(path, command, os.Environ())
	}
	fmt.Fprintf(os.Stderr, "docker-entrypoint.sh: %s: %v\n", command[0], err)
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		return 127
	}
	return 126
}

// ofServer puts redis-server before a command that has only its arguments.
func ofServer(command []string) []string {
	if len(command) == 0 || strings.HasPrefix(command[0], "-") ||
		strings.HasSuffix(command[0], ".conf") {
		return append([]string{"redis-server"}, command...)
	}
	return command
}
