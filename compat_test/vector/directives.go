package vector

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockredis/lockredis/compat_test/wire"
)

// do runs the commands one after another, or all in one write (pipeline).
func (r *Runner) do(commands []string, o options) ([]Step, error) {
	parsed, err := r.parse(commands)
	if err != nil {
		return nil, err
	}
	if !o.pipeline {
		return r.exchange(commands, parsed, o)
	}
	c, err := r.client(o.conn, o.proto)
	if err != nil {
		return nil, err
	}
	if err := c.conn.SendAll(parsed...); err != nil {
		return nil, err
	}
	var steps []Step
	for i, words := range parsed {
		steps = append(steps, Step{commands[i], indent(c.replies(words, o))})
	}
	return steps, nil
}

// lua runs every line as a script, or the whole input as one script.
func (r *Runner) lua(input string, o options) ([]Step, error) {
	scripts := lines(input)
	if o.whole {
		scripts = []string{input}
	}
	var parsed [][]string
	for _, script := range scripts {
		words := []string{o.command, script, strconv.Itoa(len(o.keys))}
		parsed = append(parsed, append(append(words, o.keys...), o.argv...))
	}
	return r.exchange(scripts, parsed, o)
}

// exchange sends commands one by one and reads the reply to each. After a connection has
// ended, the next command gets a new one.
func (r *Runner) exchange(labels []string, commands [][]string, o options) ([]Step, error) {
	var steps []Step
	for i, words := range commands {
		c, err := r.client(o.conn, o.proto)
		if err != nil {
			return nil, err
		}
		if err := c.conn.Send(words...); err != nil && !wire.IsClosed(err) {
			return nil, err
		}
		replies := c.replies(words, o)
		if o.both {
			if replies, err = r.inResp3(replies, words, o); err != nil {
				return nil, err
			}
		}
		steps = append(steps, Step{labels[i], indent(replies)})
	}
	return steps, nil
}

// inResp3 sends the command again on a RESP3 connection and adds the reply where it
// differs.
func (r *Runner) inResp3(replies, words []string, o options) ([]string, error) {
	c, err := r.client("resp3", 3)
	if err != nil {
		return nil, err
	}
	if err := c.conn.Send(words...); err != nil {
		return nil, err
	}
	for i, reply := range c.replies(words, o) {
		if i >= len(replies) || reply != replies[i] {
			replies = append(replies, "resp3: "+reply)
		}
	}
	return replies, nil
}

// send sends commands and reads nothing. With o.blocked it waits until the server counts
// one more blocked client.
func (r *Runner) send(commands []string, o options) error {
	c, err := r.client(o.conn, o.proto)
	if err != nil {
		return err
	}
	parsed, err := r.parse(commands)
	if err != nil {
		return err
	}
	if !o.blocked {
		return c.conn.SendAll(parsed...)
	}
	before, err := r.blockedClients()
	if err != nil {
		return err
	}
	if err := c.conn.SendAll(parsed...); err != nil {
		return err
	}
	return r.poll(func() (bool, error) {
		now, err := r.blockedClients()
		return now > before, err
	})
}

// recv reads o.n replies to commands that earlier directives sent. With o.sorted it sorts
// these replies.
func (r *Runner) recv(o options) ([]Step, error) {
	c := r.conns[o.conn]
	if c == nil {
		return nil, fmt.Errorf("no connection %s", o.conn)
	}
	var steps []Step
	for range o.n {
		v, failed := c.receive()
		if failed != "" {
			return append(steps, Step{Output: failed}), nil
		}
		steps = append(steps, Step{Output: o.render(v)})
	}
	if o.sorted != "" {
		slices.SortFunc(steps, func(a, b Step) int { return strings.Compare(a.Output, b.Output) })
	}
	return steps, nil
}

// raw sends the words of the input as bytes, then a PING, and reads up to the answer to
// the PING or the end of the connection. With o.open the bytes are an incomplete frame:
// raw sends no PING and reads nothing.
func (r *Runner) raw(input string, o options) ([]Step, error) {
	words, err := r.parse([]string{strings.ReplaceAll(input, "\n", " ")})
	if err != nil {
		return nil, err
	}
	c, err := r.client(o.conn, o.proto)
	if err != nil {
		return nil, err
	}
	const ping = "*2\r\n$4\r\nPING\r\n$6\r\nin-raw\r\n"
	sent := strings.Join(words[0], "")
	if o.open {
		return nil, c.conn.WriteRaw([]byte(sent))
	}
	if err := c.conn.WriteRaw([]byte(sent + ping)); err != nil && !wire.IsReset(err) {
		return nil, err
	}
	var steps []Step
	for {
		v, failed := c.receive()
		if failed != "" {
			return append(steps, Step{input, failed}), nil
		}
		if string(v.Str) == "in-raw" || v.Kind == wire.Array && strings.Contains(v.String(), `"in-raw"`) {
			return steps, nil
		}
		steps = append(steps, Step{input, o.render(v)})
	}
}

// hangUp closes the client's side and waits until the server has noticed.
func (r *Runner) hangUp(o options) error {
	c := r.conns[o.conn]
	if c == nil {
		return fmt.Errorf("no connection %s", o.conn)
	}
	if err := c.conn.Close(); err != nil {
		return err
	}
	c.over = true
	return r.poll(func() (bool, error) {
		v, err := r.controlled("CLIENT", "LIST", "ID", c.id)
		return err == nil && len(v.Str) == 0, err
	})
}

// gone waits until none of the keys exists, and prints the events since the last events
// directive.
func (r *Runner) gone(keys []string, o options) ([]Step, error) {
	parsed, err := r.parse(keys)
	if err != nil {
		return nil, err
	}
	for _, words := range parsed {
		err := r.poll(func() (bool, error) {
			v, err := r.controlled(append([]string{"EXISTS"}, words...)...)
			n, _ := v.Int()
			return n == 0, err
		})
		if err != nil {
			return nil, err
		}
	}
	if r.listener == nil {
		return nil, nil
	}
	events, err := r.drain(o)
	return []Step{{strings.Join(keys, " "), indent(append([]string{"gone"}, events...))}}, err
}

// until repeats a command on the control connection until the answer is BUSY (o.busy), or
// is no longer BUSY.
func (r *Runner) until(commands []string, o options) error {
	parsed, err := r.parse(commands)
	if err != nil {
		return err
	}
	return r.poll(func() (bool, error) {
		v, err := r.control.Do(parsed[0]...)
		return strings.HasPrefix(v.String(), "-BUSY ") == o.busy, err
	})
}

func (r *Runner) blockedClients() (int, error) {
	v, err := r.controlled("INFO", "clients")
	if err != nil {
		return 0, err
	}
	_, rest, found := strings.Cut(string(v.Str), "blocked_clients:")
	if !found {
		return 0, fmt.Errorf("INFO has no blocked_clients")
	}
	digits, _, _ := strings.Cut(rest, "\r\n")
	return strconv.Atoi(digits)
}

// poll calls done until it returns true, at most for the time that a reply may take. The
// pause between two calls leaves the processor to the server.
func (r *Runner) poll(done func() (bool, error)) error {
	end := time.Now().Add(r.timeout)
	for {
		ok, err := done()
		if ok || err != nil {
			return err
		}
		if time.Now().After(end) {
			return fmt.Errorf("nothing happened within %v", r.timeout)
		}
		time.Sleep(time.Millisecond)
	}
}

// indent joins several replies to one output. All lines but the first are indented.
func indent(replies []string) string {
	if len(replies) == 0 {
		return ""
	}
	out := replies[0]
	for _, more := range replies[1:] {
		out += "\n  " + strings.ReplaceAll(more, "\n", "\n  ")
	}
	return out
}
