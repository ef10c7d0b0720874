package program

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"syscall"
	"time"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/internal/backdoor"
	"github.com/lockredis/lockredis/internal/config"
)

const execUsage = `Usage: lockredis exec [/path/to/redis.conf] [--directive value ...] [--allow-leaks] -- COMMAND [ARGUMENT ...]

Starts a server on a free port of the loopback interface, runs the command with the server's
address in its environment, and ends the server. The directives are those of lockredis.

  lockredis exec -- mvn test
  lockredis exec --requirepass secret --notify-keyspace-events Ex -- npm test
  lockredis exec --topology cluster:3 -- pytest

The command sees REDIS_URL, REDIS_HOST, REDIS_PORT and Spring's variables:
"lockredis exec -- env" prints them. SIGINT, SIGTERM, SIGHUP and SIGQUIT reach the command.

  --allow-leaks             the command may leave locks behind

Exit status: the command's, or 128+n if signal n has ended it. 1 if it has succeeded and left a lock
behind, which standard error describes. 126 if the command cannot be run, 127 if it is not found,
125 if lockredis fails before.
`

// The exit statuses of exec's own, as of env and timeout.
const (
	statusLeft      = 1 // the command has left something behind
	statusFailed    = 125
	statusNotRun    = 126
	statusNotFound  = 127
	statusSignalled = 128 // the signal's number is added
)

// execution is one run of "lockredis exec".
type execution struct {
	options    []string // of the server
	command    []string
	allowLeaks bool

	stdin, stdout, stderr *os.File
}

// execute is the program "lockredis exec". It returns the exit status.
func execute(args []string, stdin, stdout, stderr *os.File) int {
	if asksHelp(args) {
		io.WriteString(stdout, execUsage)
		return 0
	}
	e := &execution{stdin: stdin, stdout: stdout, stderr: stderr}
	status, err := statusFailed, e.read(args)
	if err == nil {
		status, err = e.run()
	}
	if err != nil {
		fmt.Fprintln(stderr, err)
	}
	return status
}

// read reads the arguments. The first -- ends those of the server.
func (e *execution) read(args []string) error {
	end := slices.Index(args, "--")
	if end < 0 || end == len(args)-1 {
		return errors.New("lockredis exec: no command: write lockredis exec [options] -- COMMAND, " +
			"see lockredis exec --help")
	}
	for _, arg := range args[:end] {
		if arg == "--allow-leaks" {
			e.allowLeaks = true
			continue
		}
		e.options = append(e.options, arg)
	}
	e.command = args[end+1:]
	return nil
}

// underExec are the options that all others override. The log is on standard error without a logfile,
// so it has warnings only.
var underExec = []string{"--port", "auto", "--loglevel", "warning"}

// run runs the command and returns the exit status. An error is what standard error has to say.
func (e *execution) run() (status int, err error) {
	path, err := exec.LookPath(e.command[0])
	if err != nil {
		return e.notRun(err)
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, watchedSignals()...)
	var given bytes.Buffer // what parse reads of stdin
	settings, err := parse(underExec, e.options, io.TeeReader(e.stdin, &given))
	if err != nil {
		return statusFailed, err
	}
	set := backdoor.Config(settings)
	// The server belongs to a test: it leaves a dump.rdb alone that happens to lie in the directory.
	set.RDB.Program = false
	if err := fitsExec(set); err != nil {
		return statusFailed, err
	}
	log, err := openLog(set, e.stderr)
	if err != nil {
		return statusFailed, err
	}
	orphaned, err := watchParent(set)
	if err != nil {
		return statusFailed, fmt.Errorf("lockredis exec: exit-with-parent: %w", err)
	}
	run, sig, err := startUnlessSignalled(signals, starting{settings: settings, set: set, log: log, records: true,
		again: func() (*lockredis.Settings, error) {
			return parse(underExec, e.options, bytes.NewReader(given.Bytes()))
		}})
	if run != nil {
		defer run.end()
	}
	switch {
	case sig != nil:
		return statusOfSignal(sig), nil
	case err != nil:
		return statusFailed, report(log, set, err)
	}
	if err := run.announce(set, run.nodes, io.Discard); err != nil {
		return statusFailed, report(log, set, err)
	}
	logStart(log, run.nodes)
	cmd := &exec.Cmd{Path: path, Args: e.command, Env: run.environment(set, os.Environ()),
		Stdin: e.stdin, Stdout: e.stdout, Stderr: e.stderr}
	endWithParent(cmd)
	// The system ends the command with the thread that has started it: this one lives as long as
	// the process.
	runtime.LockOSThread()
	if err := cmd.Start(); err != nil {
		return e.notRun(err)
	}
	status = awaitCommand(cmd, signals, orphaned)
	if left := e.finish(run, status); left != nil {
		if status == 0 {
			status = statusLeft
		}
		return status, left
	}
	return status, nil
}

// notRun returns the status and the text for a command that cannot run.
func (e *execution) notRun(err error) (status int, text error) {
	status = statusNotRun
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		status = statusNotFound
	}
	var lookup *exec.Error
	if errors.As(err, &lookup) {
		err = lookup.Err
	}
	return status, fmt.Errorf("lockredis exec: %s: %w", e.command[0], err)
}

// fitsExec returns an error if the command could not reach the server, or the server would not end
// with the command.
func fitsExec(set *config.Config) error {
	switch {
	case set.Sentinel, set.Topology.Primary != "":
		return errors.New("lockredis exec: a server must be in the process: " +
			"--topology sentinel:1x3 is a server with its Sentinels")
	case set.Port == 0 && !set.PortAuto && !set.TLS.Enabled():
		return errors.New("lockredis exec: the command needs a port: port or tls-port")
	case set.Control:
		return errors.New("lockredis exec: control is for a program that starts lockredis itself")
	case set.Daemonize:
		return errors.New("lockredis exec: the server ends with the command: write --daemonize no")
	}
	return nil
}

// startUnlessSignalled starts the nodes of s. A signal ends the start and is returned. The caller
// ends what is not nil.
func startUnlessSignalled(signals <-chan os.Signal, s starting) (run *running, sig os.Signal, err error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	started, received := make(chan struct{}), make(chan os.Signal, 1)
	go func() {
		defer close(received)
		for {
			select {
			case sig := <-signals:
				if endsStart(sig) {
					received <- sig
					cancel()
					return
				}
			case <-started:
				return
			}
		}
	}()
	run, err = start(ctx, s)
	close(started)
	return run, <-received, err
}

// awaitCommand waits for the end of the command and returns its status. It passes signals on, and ends the
// command when orphaned is closed.
func awaitCommand(cmd *exec.Cmd, signals <-chan os.Signal, orphaned <-chan struct{}) (status int) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // ProcessState has it
	}()
	var overdue <-chan time.Time
	for {
		select {
		case <-ended:
			return statusOf(cmd.ProcessState)
		case sig := <-signals:
			passOn(cmd.Process, sig)
		case <-orphaned:
			orphaned, overdue = nil, time.After(orphanPatience)
			terminate(cmd.Process)
		case <-overdue:
			_ = cmd.Process.Kill() // it may have ended
		}
	}
}

// statusOf returns the exit status that a shell would have for a process that has ended.
func statusOf(state *os.ProcessState) int {
	if wait, ok := state.Sys().(syscall.WaitStatus); ok && wait.Signaled() {
		return statusSignalled + int(wait.Signal())
	}
	return state.ExitCode()
}

// statusOfSignal returns the exit status of a process that a signal has ended.
func statusOfSignal(sig os.Signal) int {
	number, _ := sig.(syscall.Signal)
	return statusSignalled + int(number)
}
