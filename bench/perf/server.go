//go:build linux

package main

import (
	"embed"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/lockredis/lockredis/compat_test/wire"
	"github.com/lockredis/lockredis/internal/redistest"
)

// server is a process that speaks RESP.
type server struct {
	name    string
	addr    string
	port    string
	process *redistest.Server
	control *wire.Conn
	shas    map[string]string // SHAs of scripts, by file name without .lua
}

//go:embed scripts
var scripts embed.FS

// program returns the executable of a server.
func (b *bench) program(name string) (string, error) {
	switch name {
	case redisServer:
		return redistest.Program()
	case valkey:
		return redistest.Valkey()
	case miniRedis, emptyServer:
		return os.Executable()
	}
	return b.path(name), nil
}

// start starts a server and waits until it serves. args are arguments in addition to the
// default ones.
func (b *bench) start(name string, args ...string) (*server, error) {
	s, err := b.launch(name, args...)
	if err != nil {
		return nil, err
	}
	if s.control, err = s.waitForPong(); err == nil {
		err = s.loadScripts()
	}
	if err != nil {
		s.stop()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return s, nil
}

// launch starts a server's process and does not wait until it serves.
func (b *bench) launch(name string, args ...string) (*server, error) {
	program, err := b.program(name)
	if err != nil {
		return nil, err
	}
	command := redistest.Command{Program: program,
		Args: append([]string{"--maxclients", "10100"}, args...)}
	if servers[name] != nil {
		port, err := redistest.FreePort()
		if err != nil {
			return nil, err
		}
		command.Addr = net.JoinHostPort("127.0.0.1", port)
		command.Args = []string{"-serve", name, command.Addr}
	}
	if command.Dir, err = os.MkdirTemp(b.dir, name); err != nil { // removed with b.dir
		return nil, err
	}
	process, err := command.Start()
	if err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(process.Addr)
	return &server{name: name, addr: process.Addr, port: port, process: process,
		shas: map[string]string{}}, err
}

// stop ends the process. A second stop does nothing.
func (s *server) stop() {
	if s.control != nil {
		s.control.Close()
	}
	s.process.Stop()
}

// waitForPong returns the first connection that got a PONG.
func (s *server) waitForPong() (*wire.Conn, error) {
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); {
		if c, err := wire.Dial(s.addr); err == nil {
			if reply, err := c.Do("PING"); err == nil && reply.String() == "+PONG" {
				c.SetTimeout(controlTimeout)
				return c, nil
			}
			c.Close()
		}
		if err := s.alive(); err != nil {
			return nil, err
		}
		time.Sleep(100 * time.Microsecond)
	}
	return nil, errors.New("no PONG within 10 s")
}

func (s *server) alive() error {
	select {
	case <-s.process.Ended():
		return errors.New("the process has ended:\n" + s.process.Log())
	default:
		return nil
	}
}

func (s *server) loadScripts() error {
	files, err := scripts.ReadDir("scripts")
	if err != nil {
		return err
	}
	for _, f := range files {
		body, err := scripts.ReadFile("scripts/" + f.Name())
		if err != nil {
			return err
		}
		sha, err := s.do("SCRIPT", "LOAD", string(body))
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name(), err)
		}
		s.shas[strings.TrimSuffix(f.Name(), ".lua")] = string(sha.Str)
	}
	return nil
}

// controlTimeout bounds each command that is not measured.
const controlTimeout = 30 * time.Second

// do runs a command that is not measured. An error reply is an error.
func (s *server) do(args ...string) (wire.Value, error) {
	reply, err := s.control.Do(args...)
	if err == nil && reply.IsError() {
		err = errors.New(string(reply.Str))
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", args[0], err)
	}
	return reply, err
}

// pipeline sends all commands, then reads all replies. It is for batches whose replies
// fit into the sockets' buffers.
func (s *server) pipeline(commands [][]string) error {
	if err := s.control.SendAll(commands...); err != nil {
		return err
	}
	for range commands {
		reply, err := s.control.Receive()
		if err == nil && reply.IsError() {
			err = errors.New(string(reply.Str))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// info returns a field of INFO, empty where there is none.
func (s *server) info(field string) string {
	reply, err := s.do("INFO")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(reply.Str)) {
		if value, ok := strings.CutPrefix(line, field+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// build compiles lockredis, as for a release, from the source tree at dir.
func build(dir, output string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", output, "./cmd/lockredis")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building lockredis: %w\n%s", err, out)
	}
	return nil
}
