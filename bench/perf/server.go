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

	"github.com/lockredis/lockredis/internal/redistest"
)

// server is a process that speaks RESP.
type server struct {
	name    string
	addr    string
	port    string
	process *redistest.Server
	control *conn
	shas    map[string]string // of scripts, by file name without .lua
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

// start starts a server on a free port with arguments beside the usual.
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
	command := redistest.Command{Program: program, Args: append([]string{"--maxclients", "10100"}, args...)}
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
	return &server{name: name, addr: process.Addr, port: port, process: process, shas: map[string]string{}}, err
}

// stop ends the process. A second stop does nothing.
func (s *server) stop() {
	if s.control != nil {
		s.control.Close()
	}
	s.process.Stop()
}

// waitForPong returns the first connection that was answered.
func (s *server) waitForPong() (*conn, error) {
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); {
		if c, err := dial(s.addr); err == nil {
			if reply, err := c.do("PING"); err == nil && reply == "PONG" {
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
		return errors.New("the process has ended")
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
		s.shas[strings.TrimSuffix(f.Name(), ".lua")], _ = sha.(string)
	}
	return nil
}

// do runs a command on the connection for control.
func (s *server) do(args ...string) (any, error) { return s.control.do(args...) }

// build compiles lockredis, as it is released, from the source tree at dir.
func build(dir, output string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", output, "./cmd/lockredis")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building lockredis: %w\n%s", err, out)
	}
	return nil
}
