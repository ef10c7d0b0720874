package vector

import (
	"fmt"
	"strings"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/lockredis/lockredis/compat_test/wire"
)

// width is the number of columns above which a reply is broken into lines.
const width = 110

// Runner runs one vector file. Only one goroutine may use it at a time.
type Runner struct {
	addr     string
	timeout  time.Duration
	conns    map[string]*client
	control  *wire.Conn // for the Runner's own commands: configuration, polling, synchronizing
	listener *wire.Conn // subscribed to every keyspace event; nil until the first events directive
	restored [][]string // CONFIG SET commands that undo the config directives
}

// NewRunner connects to the server at addr. A reply that takes longer than timeout is
// rendered as "(timeout)".
func NewRunner(addr string, timeout time.Duration) (*Runner, error) {
	control, err := wire.Dial(addr)
	if err != nil {
		return nil, err
	}
	r := &Runner{addr: addr, timeout: timeout, conns: map[string]*client{}, control: control}
	control.SetTimeout(timeout)
	return r, nil
}

// Flush empties the server and its script cache. It is for a server that other files used
// before.
func (r *Runner) Flush() error {
	for _, cmd := range [][]string{{"FLUSHALL"}, {"SCRIPT", "FLUSH"}} {
		if _, err := r.controlled(cmd...); err != nil {
			return err
		}
	}
	return nil
}

// Close restores the server's configuration. It returns an error that names the
// connections with replies that the file did not read.
func (r *Runner) Close() error {
	var left []string
	for name, c := range r.conns {
		if reply := c.leftover(); reply != "" {
			left = append(left, fmt.Sprintf("connection %s was left with an unread %s", name, reply))
		}
		c.conn.Close()
	}
	if r.listener != nil {
		r.listener.Close()
	}
	for _, cmd := range r.restored {
		if _, err := r.controlled(cmd...); err != nil {
			left = append(left, err.Error())
		}
	}
	r.control.Close()
	if len(left) > 0 {
		return fmt.Errorf("%s", strings.Join(left, "; "))
	}
	return nil
}

// Run runs one directive and returns the replies. Each reply begins at the left edge of a
// line and continues in indented lines. An error means a malformed directive or a server
// that cannot be reached, never a wrong reply.
func (r *Runner) Run(d *datadriven.TestData) ([]Step, error) {
	opts, err := parseOptions(d)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.Pos, err)
	}
	steps, err := r.directive(d, opts)
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", d.Pos, d.Cmd, err)
	}
	return steps, nil
}

func (r *Runner) directive(d *datadriven.TestData, o options) ([]Step, error) {
	switch d.Cmd {
	case "do":
		return r.do(lines(d.Input), o)
	case "lua":
		return r.lua(d.Input, o)
	case "events":
		return r.events(lines(d.Input), o)
	case "send":
		return nil, r.send(lines(d.Input), o)
	case "recv":
		return r.recv(o)
	case "raw":
		return r.raw(d.Input, o)
	case "close":
		return nil, r.hangUp(o)
	case "config":
		return nil, r.config(lines(d.Input))
	case "until":
		return nil, r.until(lines(d.Input), o)
	case "gone":
		return r.gone(lines(d.Input), o)
	}
	return nil, fmt.Errorf("unknown directive")
}

// Step is one command of a directive and its reply.
type Step struct {
	Command string // as written in the file; empty for a reply that recv read
	Output  string // the rendered reply, continued in indented lines
}

// lines divides a directive's input into commands. A line that begins with "# " is a
// comment.
func lines(input string) []string {
	var out []string
	for _, line := range strings.Split(input, "\n") {
		if line != "" && !strings.HasPrefix(line, "# ") {
			out = append(out, line)
		}
	}
	return out
}

// controlled runs a command on the control connection; an error reply is an error.
func (r *Runner) controlled(args ...string) (wire.Value, error) {
	v, err := r.control.Do(args...)
	if err == nil && v.IsError() {
		err = fmt.Errorf("%s", v)
	}
	if err != nil {
		return v, fmt.Errorf("%s: %w", strings.Join(args, " "), err)
	}
	return v, nil
}

// config sets configuration parameters ("name value" a line) until the file ends.
func (r *Runner) config(settings []string) error {
	for _, line := range settings {
		words, err := wire.Split(line)
		if err != nil || len(words) != 2 {
			return fmt.Errorf("want a name and a value, not %q", line)
		}
		before, err := r.controlled("CONFIG", "GET", words[0])
		if err != nil {
			return err
		}
		if len(before.Elems) != 2 {
			return fmt.Errorf("no parameter %s", words[0])
		}
		if _, err := r.controlled("CONFIG", "SET", words[0], words[1]); err != nil {
			return err
		}
		r.restored = append(r.restored, []string{"CONFIG", "SET", words[0], string(before.Elems[1].Str)})
	}
	return nil
}
