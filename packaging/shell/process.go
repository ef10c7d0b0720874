package shell

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// env prints the environment, or runs a program with a changed one.
func env(c *call) int {
	given, values, operands, err := c.options("i", "u")
	if err != nil {
		return c.fail(125, err)
	}
	environ := os.Environ()
	if given['i'] {
		environ = nil
	}
	if given['u'] {
		environ = without(environ, values['u'])
	}
	for len(operands) > 0 && strings.Contains(operands[0], "=") {
		name, _, _ := strings.Cut(operands[0], "=")
		environ = append(without(environ, name), operands[0])
		operands = operands[1:]
	}
	if len(operands) == 0 {
		for _, line := range environ {
			fmt.Fprintln(c.out, line)
		}
		return 0
	}
	path, err := exec.LookPath(operands[0])
	if err == nil {
		err = syscall.Exec(path, operands, environ)
	}
	return c.fail(startStatus(err), err)
}

// without returns an environment without one variable.
func without(environ []string, name string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(line string) bool {
		return strings.HasPrefix(line, name+"=")
	})
}

// startStatus returns the status for a program that did not start.
func startStatus(err error) int {
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return 127
	}
	return 126
}

func printenv(c *call) int {
	if len(c.args) == 1 {
		return env(c)
	}
	status := 0
	for _, name := range c.args[1:] {
		value, ok := os.LookupEnv(name)
		if !ok {
			status = 1
			continue
		}
		fmt.Fprintln(c.out, value)
	}
	return status
}

func hostname(c *call) int {
	name, err := os.Hostname()
	if err != nil {
		return c.fail(1, err)
	}
	fmt.Fprintln(c.out, name)
	return 0
}

// id prints who the process runs as, with -u or -g one number.
func id(c *call) int {
	given, _, _, err := c.options("ugn", "")
	switch {
	case err != nil:
		return c.fail(2, err)
	case given['u'] && given['n']:
		return whoami(c)
	case given['u']:
		fmt.Fprintln(c.out, os.Geteuid())
	case given['g']:
		fmt.Fprintln(c.out, os.Getegid())
	default:
		fmt.Fprintf(c.out, "uid=%d gid=%d\n", os.Geteuid(), os.Getegid())
	}
	return 0
}

func whoami(c *call) int {
	self, err := user.LookupId(strconv.Itoa(os.Geteuid()))
	if err != nil {
		return c.fail(1, err)
	}
	fmt.Fprintln(c.out, self.Username)
	return 0
}

// signals are the signals that kill and timeout know by name.
var signals = map[string]syscall.Signal{"HUP": syscall.SIGHUP, "INT": syscall.SIGINT,
	"QUIT": syscall.SIGQUIT, "KILL": syscall.SIGKILL, "TERM": syscall.SIGTERM,
	"STOP": syscall.SIGSTOP, "CONT": syscall.SIGCONT, "USR1": syscall.SIGUSR1,
	"USR2": syscall.SIGUSR2}

// signalOf returns the signal of a number or name such as 9, KILL, SIGKILL.
func signalOf(text string) (syscall.Signal, error) {
	if n, err := strconv.Atoi(text); err == nil {
		return syscall.Signal(n), nil
	}
	if sig, ok := signals[strings.TrimPrefix(strings.ToUpper(text), "SIG")]; ok {
		return sig, nil
	}
	return 0, fmt.Errorf("unknown signal %q", text)
}

// kill sends a signal: kill [-SIGNAL | -s SIGNAL] PID …
func kill(c *call) int {
	args, name := c.args[1:], "TERM"
	if len(args) > 1 && strings.HasPrefix(args[0], "-") && args[0] != "--" {
		if name, args = args[0][1:], args[1:]; name == "s" {
			name, args = args[0], args[1:]
		}
	}
	sig, err := signalOf(name)
	if err == nil && len(args) == 0 {
		err = errOperands
	}
	if err != nil {
		return c.fail(2, err)
	}
	status := 0
	for _, arg := range args {
		pid, err := strconv.Atoi(arg)
		if err == nil {
			err = syscall.Kill(pid, sig)
		}
		if err != nil {
			status = c.fail(1, fmt.Errorf("%s: %w", arg, err))
		}
	}
	return status
}

// sleep takes seconds, or a number with s, m, h or d.
func sleep(c *call) int {
	if len(c.args) < 2 {
		return c.fail(1, errOperands)
	}
	var total time.Duration
	for _, arg := range c.args[1:] {
		d, err := duration(arg)
		if err != nil {
			return c.fail(1, err)
		}
		total += d
	}
	time.Sleep(total)
	return 0
}

func duration(text string) (time.Duration, error) {
	unit := time.Second
	number := strings.TrimRight(text, "smhd")
	if suffix := text[len(number):]; suffix != "" {
		unit = map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour,
			"d": 24 * time.Hour}[suffix]
	}
	count, err := strconv.ParseFloat(number, 64)
	if err != nil || unit == 0 || count < 0 {
		return 0, fmt.Errorf("%q is no time", text)
	}
	return time.Duration(count * float64(unit)), nil
}

// timeout ends a program that runs for too long: timeout [-s SIGNAL] [-k TIME] TIME
// PROGRAM … Its status is then 124, after KILL 137. Time 0 is no limit.
func timeout(c *call) int {
	_, values, operands, err := c.options("", "skt")
	if limit, ok := values['t']; ok { // BusyBox's old form
		operands = append([]string{limit}, operands...)
	}
	if err == nil && len(operands) < 2 {
		err = errOperands
	}
	var limit, patience time.Duration
	if err == nil {
		limit, err = duration(operands[0])
	}
	if text, ok := values['k']; ok && err == nil {
		patience, err = duration(text)
	}
	sig := syscall.SIGTERM
	if name, ok := values['s']; ok && err == nil {
		sig, err = signalOf(name)
	}
	if err != nil {
		return c.fail(125, err)
	}
	cmd := exec.Command(operands[1], operands[2:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.in, c.out, c.err
	if err := cmd.Start(); err != nil {
		return c.fail(startStatus(err), err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	if limit == 0 {
		return exitStatus(cmd, <-ended)
	}
	select {
	case err := <-ended:
		return exitStatus(cmd, err)
	case <-time.After(limit):
	}
	_ = cmd.Process.Signal(sig) // it may have ended
	if sig == syscall.SIGKILL {
		return exitStatus(cmd, <-ended)
	}
	if patience > 0 {
		select {
		case <-ended:
			return 124
		case <-time.After(patience):
			_ = cmd.Process.Kill()
		}
	}
	<-ended
	return 124
}

func which(c *call) int {
	status := 0
	for _, name := range c.args[1:] {
		path, err := exec.LookPath(name)
		if err != nil {
			status = 1
			continue
		}
		fmt.Fprintln(c.out, path)
	}
	return status
}

// owner returns the user and the group of a file.
func owner(info fs.FileInfo) string {
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprintf("%d %d", sys.Uid, sys.Gid)
	}
	return "? ?"
}
