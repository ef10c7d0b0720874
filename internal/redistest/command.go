package redistest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// Command describes a server to start. The zero Command is a redis-server on a free
// TCP port, without persistence, in a new temporary directory.
type Command struct {
	// Program is the path of the executable. Empty means the redis-server of Program().
	Program string

	// Args are directives as a command line has them. They come after the default
	// directives and override them.
	Args []string

	// Socket makes the server listen on a Unix socket and on no TCP port.
	Socket bool

	// Addr is the server's address when Args or a configuration file in Args says where
	// it listens. Then the server gets no default directives.
	Addr string

	// Dir is the server's working directory. Empty means a new temporary directory,
	// which Stop removes.
	Dir string

	// LogFile receives standard output and standard error; text is appended. Empty
	// means the file "log" in Dir.
	LogFile string
}

// Start starts the server's process and does not wait until it answers, see Await. The
// process ends with Stop, or when the calling process dies.
func (c Command) Start() (*Server, error) {
	s := &Server{Addr: c.Addr, Dir: c.Dir, program: c.Program, logFile: c.LogFile}
	if err := s.prepare(); err != nil {
		return nil, err
	}
	args, err := c.arguments(s)
	if err == nil {
		s.args = args
		err = s.launch(args)
	}
	if err != nil {
		s.removeDir()
		return nil, fmt.Errorf("start %s: %w", s.program, err)
	}
	return s, nil
}

// prepare fills in what the Command leaves open.
func (s *Server) prepare() (err error) {
	if s.program == "" {
		if s.program, err = Program(); err != nil {
			return err
		}
	}
	if s.Dir == "" {
		s.ownDir = true
		// Not below the test's directory: a socket's path has to be short.
		if s.Dir, err = os.MkdirTemp("", "redis-"); err != nil {
			return err
		}
	}
	if s.logFile == "" {
		s.logFile = filepath.Join(s.Dir, "log")
	}
	return nil
}

// arguments returns the server's command line and sets the server's address.
func (c Command) arguments(s *Server) ([]string, error) {
	if c.Addr != "" {
		return c.Args, nil
	}
	args := []string{"--bind", "127.0.0.1", "--save", "", "--appendonly", "no"}
	if c.Socket {
		s.Addr = filepath.Join(s.Dir, "s")
		args = append(args, "--port", "0", "--unixsocket", s.Addr)
	} else {
		port, err := FreePort()
		if err != nil {
			return nil, err
		}
		s.Addr = net.JoinHostPort("127.0.0.1", port)
		args = append(args, "--port", port)
	}
	return append(args, c.Args...), nil
}

// launch starts the process.
func (s *Server) launch(args []string) error {
	log, err := os.OpenFile(s.logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	s.cmd = exec.Command(s.program, args...)
	s.cmd.Dir, s.cmd.Stdout, s.cmd.Stderr = s.Dir, log, log
	s.cmd.Env = append(os.Environ(), "LC_ALL=C") // SORT ALPHA compares by the locale
	temporary := ""
	if s.ownDir {
		temporary = s.Dir
	}
	leash, err := newLeash(temporary)
	if err != nil {
		return err
	}
	s.Started = time.Now()
	if err := s.cmd.Start(); err != nil {
		leash.drop()
		return err
	}
	s.PID = s.cmd.Process.Pid
	leash.tie(s.PID)
	s.ended = make(chan struct{})
	go func() {
		_ = s.cmd.Wait() // the error only says that the server was killed
		leash.drop()
		close(s.ended)
	}()
	return nil
}
