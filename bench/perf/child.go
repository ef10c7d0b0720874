//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// childPatience is longer than any measurement of one child.
const childPatience = 2 * time.Minute

// child is a process of this program in a role.
type child struct {
	role  string
	cmd   *exec.Cmd
	stdin io.WriteCloser
	to    *json.Encoder
	from  *json.Decoder
	stuck *time.Timer
}

// startChild starts a child, sends it its spec, and waits until the child is ready.
func startChild(role string, spec any) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &child{role: role, cmd: exec.Command(self, "-role", role)}
	c.cmd.Stderr = os.Stderr
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	c.stuck = time.AfterFunc(childPatience, func() { _ = c.cmd.Process.Kill() })
	c.to = json.NewEncoder(c.stdin)
	if err := c.to.Encode(spec); err != nil {
		return nil, c.failed(err)
	}
	line := make([]byte, len("ready\n"))
	if _, err := io.ReadFull(stdout, line); err != nil {
		return nil, c.failed(err)
	}
	c.from = json.NewDecoder(stdout)
	return c, nil
}

func (c *child) failed(err error) error {
	return errors.Join(fmt.Errorf("%s: %w", c.role, err), c.end())
}

// start tells the child to begin.
func (c *child) start() error { return c.to.Encode("go") }

func (c *child) result(into any) error {
	if err := c.from.Decode(into); err != nil {
		return fmt.Errorf("%s: %w", c.role, err)
	}
	return nil
}

// end ends the child and waits for it. A second call does nothing.
func (c *child) end() error {
	if c.stdin == nil {
		return nil
	}
	c.stdin.Close()
	c.stdin = nil
	err := c.cmd.Wait()
	c.stuck.Stop()
	return err
}

// playOnce runs a child from its start to its end.
func playOnce[Result any](role string, spec any) (Result, error) {
	var result Result
	c, err := startChild(role, spec)
	if err != nil {
		return result, err
	}
	if err := c.start(); err != nil {
		return result, c.failed(err)
	}
	if err := c.result(&result); err != nil {
		return result, errors.Join(err, c.end())
	}
	return result, c.end()
}
