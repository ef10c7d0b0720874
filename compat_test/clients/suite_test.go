//go:build unix

package clients

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	// runLimit ends one suite on one server. A first run downloads and builds.
	runLimit = 10 * time.Minute
	// endGrace is the time between SIGTERM and SIGKILL.
	endGrace = 5 * time.Second
	// noToolchain is the exit status of a script that lacks its toolchain.
	noToolchain = 77
)

// errNoToolchain means that the machine lacks what the suite needs. The text after it
// says what.
var errNoToolchain = errors.New("missing toolchain")

// suites returns the names of all suites: the folders that have a script.
func suites() ([]string, error) {
	scripts, err := filepath.Glob("*/run")
	for i, script := range scripts {
		scripts[i] = filepath.Dir(script)
	}
	return scripts, err
}

// runSuite runs a suite's script against the server on a port of 127.0.0.1 and returns
// the checks. The error has the end of what the script wrote to standard error.
func runSuite(ctx context.Context, suite, port string) ([]check, error) {
	ctx, cancel := context.WithTimeout(ctx, runLimit)
	defer cancel()
	script, err := filepath.Abs(filepath.Join(suite, "run"))
	if err != nil {
		return nil, err
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, script, port)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = endGrace
	err = cmd.Run()
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what the script left running
	}
	said := tail(stderr.String(), 30)
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("%s: not done within %s\n%s\n%s", suite, runLimit, stdout.String(), said)
	case cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == noToolchain:
		return nil, fmt.Errorf("%w: %s", errNoToolchain, said)
	case err != nil:
		return nil, fmt.Errorf("%s: %w\n%s\n%s", suite, err, stdout.String(), said)
	}
	return parseChecks(stdout.String())
}

// tail returns the last n lines of a text.
func tail(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
