package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

// sh is the shell: "sh -c TEXT [NAME [ARG …]]", "sh FILE [ARG …]" or "sh" for lines
// from standard input. It takes set's options, and -l and -i, which change nothing.
func sh(c *call) int {
	options, rest, text, given, err := shellArguments(c.args[1:])
	if err != nil {
		return c.fail(2, err)
	}
	s := &session{call: c}
	var source io.Reader = c.in
	name := "sh"
	switch {
	case given:
		source = strings.NewReader(text)
		if len(rest) > 0 {
			name, rest = rest[0], rest[1:] // $0
		}
	case len(rest) > 0:
		file, err := os.Open(rest[0])
		if err != nil {
			return c.fail(127, err)
		}
		defer file.Close()
		source, name, rest = file, rest[0], rest[1:]
	}
	runner, err := interp.New(
		interp.Params(append(append(options, "--"), rest...)...),
		interp.Env(expand.ListEnviron(os.Environ()...)),
		interp.StdIO(c.in, c.out, c.err),
		interp.ExecHandlers(func(interp.ExecHandlerFunc) interp.ExecHandlerFunc { return s.exec }),
		interp.OpenHandler(open),
		interp.CallHandler(s.replaceBuiltin),
	)
	if err != nil {
		return c.fail(2, err)
	}
	s.runner = runner
	defer s.passSignals()()
	if !given && len(c.args) == 1 && isTerminal(c.in) {
		return s.interactive()
	}
	return s.script(source, name)
}

// shellArguments splits the arguments of sh. options are for set. given reports
// whether there is a -c.
func shellArguments(args []string) (options, rest []string, text string, given bool, err error) {
	for len(args) > 0 && len(args[0]) > 1 && strings.ContainsAny(args[0][:1], "-+") {
		arg := args[0]
		args = args[1:]
		if arg == "--" || arg == "-" {
			break
		}
		if arg == "-o" || arg == "+o" {
			if len(args) == 0 {
				return nil, nil, "", false, errors.New("-o needs an argument")
			}
			options, args = append(options, arg, args[0]), args[1:]
			continue
		}
		for _, letter := range arg[1:] {
			switch letter {
			case 'c':
				given = true
			case 'l', 'i', 's':
			default:
				options = append(options, arg[:1]+string(letter))
			}
		}
	}
	if given {
		if len(args) == 0 {
			return nil, nil, "", false, errors.New("-c needs an argument")
		}
		text, args = args[0], args[1:]
	}
	return options, args, text, given, nil
}

// session is one shell.
type session struct {
	*call
	runner *interp.Runner

	mu       sync.Mutex // guards children and ended
	children map[*os.Process]bool
	ended    syscall.Signal // the signal that ends the shell after its children; 0: none
	replaced bool           // exec ran: the shell's status is its child's
}

// script runs a whole text and returns its status.
func (s *session) script(source io.Reader, name string) int {
	file, err := syntax.NewParser().Parse(source, name)
	if err != nil {
		return s.fail(2, err)
	}
	return s.status(s.runner.Run(context.Background(), file))
}

// interactive runs the lines of a terminal.
func (s *session) interactive() (status int) {
	const prompt, more = "$ ", "> "
	parser := syntax.NewParser()
	io.WriteString(s.out, prompt)
	for statements, err := range parser.InteractiveSeq(s.in) {
		switch {
		case err != nil:
			status = s.fail(2, err)
		case parser.Incomplete():
			io.WriteString(s.out, more)
			continue
		}
		for _, statement := range statements {
			status = s.status(s.runner.Run(context.Background(), statement))
			if s.runner.Exited() {
				return status
			}
		}
		io.WriteString(s.out, prompt)
	}
	return status
}

// status returns the exit status of a run, and prints an error that is no status.
func (s *session) status(err error) int {
	s.mu.Lock()
	ended := s.ended
	s.mu.Unlock()
	var status interp.ExitStatus
	switch {
	case errors.As(err, &status):
		return int(status)
	case err != nil:
		return s.fail(1, err)
	case ended != 0:
		return 128 + int(ended)
	}
	return 0
}

// exec runs a program, and ends the shell when a signal has come meanwhile.
func (s *session) exec(ctx context.Context, args []string) error {
	around := interp.HandlerCtx(ctx)
	path, err := interp.LookPathDir(around.Dir, around.Env, args[0])
	if err != nil {
		if _, statErr := os.Stat(args[0]); statErr == nil && strings.Contains(args[0], "/") {
			fmt.Fprintf(around.Stderr, "sh: %s: permission denied\n", args[0])
			return interp.ExitStatus(126)
		}
		fmt.Fprintf(around.Stderr, "sh: %s: not found\n", args[0])
		return interp.ExitStatus(127)
	}
	cmd := &exec.Cmd{Path: path, Args: args, Dir: around.Dir, Env: environment(around.Env),
		Stdin: around.Stdin, Stdout: around.Stdout, Stderr: around.Stderr}
	if err := s.start(cmd); err != nil {
		fmt.Fprintf(around.Stderr, "sh: %s: %v\n", args[0], err)
		return interp.ExitStatus(126)
	}
	err = cmd.Wait()
	status := exitStatus(cmd, err)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.children, cmd.Process)
	if s.ended != 0 {
		if !s.replaced {
			status = 128 + int(s.ended)
		}
		os.Exit(status)
	}
	if status != 0 {
		return interp.ExitStatus(status)
	}
	return nil
}

// start starts a process that gets the shell's signals.
func (s *session) start(cmd *exec.Cmd) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := cmd.Start(); err != nil {
		return err
	}
	if s.children == nil {
		s.children = map[*os.Process]bool{}
	}
	s.children[cmd.Process] = true
	return nil
}

// exitStatus returns a program's status as a shell counts it.
func exitStatus(cmd *exec.Cmd, err error) int {
	if cmd.ProcessState == nil {
		return 126
	}
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	if code := cmd.ProcessState.ExitCode(); code != 0 || err == nil {
		return code
	}
	return 1
}

// environment returns the exported variables.
func environment(env expand.Environ) (list []string) {
	env.Each(func(name string, v expand.Variable) bool {
		if v.Exported && v.Kind == expand.String {
			list = append(list, name+"="+v.String())
		}
		return true
	})
	return list
}

// passSignals passes the signals that end a process to the shell's children, and ends
// the shell when it has none. So a server that a script starts in a container gets
// the container's stop signal, with and without exec. The result stops that.
func (s *session) passSignals() (stop func()) {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGINT)
	go func() {
		for sig := range signals {
			if sig == syscall.SIGINT && isTerminal(s.in) {
				continue // the terminal sends it to the children
			}
			s.mu.Lock()
			if len(s.children) == 0 {
				os.Exit(128 + int(sig.(syscall.Signal)))
			}
			s.ended = sig.(syscall.Signal)
			for child := range s.children {
				_ = child.Signal(sig) // it may have ended
			}
			s.mu.Unlock()
		}
	}()
	return func() {
		signal.Stop(signals)
		close(signals)
	}
}

// open opens a file of a redirection. As in Bash, /dev/tcp/HOST/PORT is a connection.
func open(ctx context.Context, path string, flag int, mode os.FileMode) (
	io.ReadWriteCloser, error,
) {
	if rest, ok := strings.CutPrefix(path, "/dev/tcp/"); ok {
		host, port, _ := strings.Cut(rest, "/")
		conn, err := net.Dial("tcp", net.JoinHostPort(host, port))
		if err != nil {
			return nil, &os.PathError{Op: "open", Path: path, Err: errors.Unwrap(err)}
		}
		return conn, nil
	}
	return interp.DefaultOpenHandler()(ctx, path, flag, mode)
}

// replaceBuiltin gives the builtins that the interpreter does not have. It also notes an
// exec with a program. The interpreter then runs the program as a child and ends the
// shell after it: the shell may be one of several goroutines of its process.
func (s *session) replaceBuiltin(ctx context.Context, args []string) ([]string, error) {
	switch args[0] {
	case "exec":
		s.mu.Lock()
		s.replaced = s.replaced || len(args) > 1
		s.mu.Unlock()
	case "kill":
		return append([]string{"env"}, args...), nil // the program
	case "umask":
		if len(args) == 1 {
			mask := syscall.Umask(0)
			syscall.Umask(mask)
			return []string{"echo", fmt.Sprintf("%04o", mask)}, nil
		}
		mask, err := strconv.ParseUint(args[1], 8, 9)
		if err != nil {
			fmt.Fprintf(interp.HandlerCtx(ctx).Stderr, "sh: umask: %s: not an octal number\n", args[1])
			return []string{"false"}, nil
		}
		syscall.Umask(int(mask))
		return []string{"true"}, nil
	}
	return args, nil
}

// builtin runs the builtin of a tool's name: echo, printf, test, [ …
func builtin(c *call) int {
	args := append([]string{filepath.Base(c.args[0])}, c.args[1:]...)
	return sh(&call{append([]string{"sh", "-c", `"$@"`, "sh"}, args...), c.in, c.out, c.err})
}

// isTerminal reports whether file is a terminal.
func isTerminal(file any) bool {
	f, ok := file.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}
