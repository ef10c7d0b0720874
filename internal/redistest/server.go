package redistest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/lockredis/lockredis/compat_test/wire"
)

// startLimit is how long a server may take to answer its first PING on a busy machine.
const startLimit = 40 * time.Second

// Server is a server process that Command.Start started.
type Server struct {
	Addr    string // host:port, or the path of a Unix socket; wire.Dial takes both
	Dir     string // the working directory
	PID     int
	Started time.Time // just before the process began

	program string
	logFile string
	ownDir  bool // Dir is temporary
	args    []string
	cmd     *exec.Cmd
	ended   chan struct{} // closed when the process has ended
}

// Await waits until the server answers PING. It returns an error, with the end of the
// server's log, when the process ends or takes longer than 40 s.
func (s *Server) Await() error {
	deadline := time.Now().Add(startLimit)
	for {
		err := s.ping()
		select {
		case <-s.ended:
			return fmt.Errorf("%s on %s ended at its start:\n%s", s.program, s.Addr, s.Log())
		default:
		}
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s on %s: no answer within %s: %w\n%s",
				s.program, s.Addr, startLimit, err, s.Log())
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// ping is nil when the server answers. A server that wants a password answers, too.
func (s *Server) ping() error {
	v, err := s.do("PING")
	if err == nil && v.IsError() && !strings.HasPrefix(string(v.Str), "NOAUTH ") {
		err = errors.New(v.String())
	}
	return err
}

func (s *Server) do(args ...string) (wire.Value, error) {
	c, err := wire.Dial(s.Addr)
	if err != nil {
		return wire.Value{}, err
	}
	defer c.Close()
	return c.Do(args...)
}

// CheckVersion returns an error when the server is not redis-server of Version, or when
// another process answers at the server's address.
func (s *Server) CheckVersion() error {
	info, err := Info(s.Addr, "everything")
	if err != nil {
		return err
	}
	if info["process_id"] != strconv.Itoa(s.PID) {
		return fmt.Errorf("process %s answers on %s, not %d", info["process_id"], s.Addr, s.PID)
	}
	return checkVersion(s.Addr, info)
}

// CheckVersion returns an error when the server at addr is not redis-server of Version.
// lockredis reports that version too, and is an error.
func CheckVersion(addr string) error {
	info, err := Info(addr, "everything")
	if err != nil {
		return err
	}
	return checkVersion(addr, info)
}

func checkVersion(addr string, info map[string]string) error {
	if v, ok := info["lockredis_release"]; ok {
		return fmt.Errorf("%s is lockredis %s, not redis-server", addr, v)
	}
	if v := info["redis_version"]; v != Version {
		return fmt.Errorf("%s is redis-server %q, not %s; %s names another program",
			addr, v, Version, programVariable)
	}
	return nil
}

// Info returns the fields of a section of INFO.
func Info(addr, section string) (map[string]string, error) {
	s := Server{Addr: addr}
	v, err := s.do("INFO", section)
	if err == nil && v.IsError() {
		err = errors.New(v.String())
	}
	if err != nil {
		return nil, fmt.Errorf("INFO of %s: %w", addr, err)
	}
	return InfoFields(string(v.Str)), nil
}

// InfoFields returns the fields of a reply to INFO.
func InfoFields(text string) map[string]string {
	fields := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), ":"); ok {
			fields[name] = value
		}
	}
	return fields
}

// Stop kills the process, waits for its end and removes its temporary directory. A
// second Stop does nothing.
func (s *Server) Stop() {
	s.Kill()
	s.removeDir()
}

// Kill kills the process and waits for its end.
func (s *Server) Kill() {
	_ = s.cmd.Process.Kill() // fails when the process has ended
	<-s.ended
}

// Again starts the process once more, after Kill, and waits until it answers.
func (s *Server) Again() error {
	if err := s.launch(s.args); err != nil {
		return err
	}
	return s.Await()
}

func (s *Server) removeDir() {
	if s.ownDir {
		_ = os.RemoveAll(s.Dir) // in the system's temporary directory: harmless when it stays
	}
}

// Ended returns a channel that is closed when the process has ended.
func (s *Server) Ended() <-chan struct{} { return s.ended }

// Log returns the last lines that the server wrote.
func (s *Server) Log() string {
	const most = 30
	text, err := os.ReadFile(s.logFile)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-most):], "\n")
}
