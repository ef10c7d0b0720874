package vector

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/lockredis/lockredis/compat_test/wire"
)

// client is a named connection of a vector file.
type client struct {
	conn *wire.Conn
	id   string // CLIENT ID, for {id:NAME}
	over bool   // the server closed it, or a reply did not come
}

// client returns the connection of that name. It opens the connection at the first use
// and after the connection has ended.
func (r *Runner) client(name string, proto int) (*client, error) {
	if c := r.conns[name]; c != nil && !c.over {
		return c, nil
	}
	conn, err := wire.Dial(r.addr)
	if err != nil {
		return nil, err
	}
	conn.SetTimeout(r.timeout)
	c := &client{conn: conn}
	if proto != 2 {
		if v, err := conn.Do("HELLO", strconv.Itoa(proto)); err != nil || v.IsError() {
			return nil, fmt.Errorf("HELLO %d: %s, %w", proto, v, err)
		}
	}
	// A server that wants a password answers with an error. The id stays empty, and files
	// with a password do not use it.
	if v, err := conn.Do("CLIENT", "ID"); err == nil && !v.IsError() {
		c.id = string(v.Str)
	}
	r.conns[name] = c
	return c, nil
}

// receive reads one reply. Without a reply it returns the reason as failed, and the
// connection counts as over.
func (c *client) receive() (v wire.Value, failed string) {
	v, err := c.conn.Receive()
	switch {
	case err == nil:
		return v, ""
	case errors.Is(err, os.ErrDeadlineExceeded):
		failed = "(timeout)"
	case wire.IsClosed(err):
		failed = "(closed)"
	default:
		failed = "(malformed: " + strings.ReplaceAll(err.Error(), "\n", " ") + ")"
	}
	c.over = true
	return v, failed
}

// leftover returns a reply that the file did not read, or an empty string.
func (c *client) leftover() string {
	if c.over {
		return ""
	}
	v, err := c.conn.Do("RESET")
	if err != nil || v.String() == "+RESET" {
		return ""
	}
	return v.String()
}

// replies reads the answer to one command: one reply, or one for each channel of a
// subscription. Pushes that arrive in between follow as "push:".
func (c *client) replies(words []string, o options) []string {
	want := 1
	if subscribes(words[0]) && len(words) > 2 {
		want = len(words) - 1
	}
	var out, pushes []string
	for len(out) < want {
		v, failed := c.receive()
		switch {
		case failed != "":
			return append(out, failed)
		case v.Kind == wire.Push && !subscribes(words[0]):
			pushes = append(pushes, "push: "+o.render(v))
			continue
		case len(out) == 0 && !v.IsAggregate():
			want = 1
		}
		out = append(out, o.render(v))
	}
	return append(out, pushes...)
}

func subscribes(command string) bool {
	return strings.HasSuffix(strings.ToLower(command), "subscribe")
}
