package control

import (
	"io"
	"net"
	"sync"

	"github.com/lockredis/lockredis/resp"
)

// client is a connection and what has arrived from it.
type client struct {
	net.Conn
	in     resp.Reader
	chunks chan []byte // that have arrived; closed at the end. nil: read what is needed
}

// readAhead starts a goroutine that reads, so that the end of a client that waits is noticed. It ends
// with the connection.
func (c *client) readAhead(done *sync.WaitGroup) {
	c.chunks = make(chan []byte, 1)
	done.Go(func() {
		defer close(c.chunks)
		for {
			chunk := make([]byte, chunkBytes)
			n, err := c.Read(chunk)
			if n == 0 && err != nil {
				return
			}
			c.chunks <- chunk[:n]
		}
	})
}

// more waits for bytes and adds them to those that have arrived.
func (c *client) more() error {
	if c.chunks == nil {
		n, err := c.Read(c.in.Space())
		if n == 0 && err != nil {
			return err
		}
		c.in.Advance(n)
		return nil
	}
	chunk, ok := <-c.chunks
	if !ok {
		return io.EOF
	}
	c.add(chunk)
	return nil
}

func (c *client) add(chunk []byte) {
	for len(chunk) > 0 {
		n := copy(c.in.Space(), chunk)
		c.in.Advance(n)
		chunk = chunk[n:]
	}
}

// next waits for the next command that has words.
func (c *client) next(unproven bool) (resp.Args, error) {
	limits := resp.Limits{MaxBulk: maxBulk, Unauthenticated: unproven}
	for {
		args, ok, err := c.in.Next(limits)
		switch {
		case err != nil:
			c.Write(resp.Append(nil, resp.Error("ERR "+err.Error()), 2))
			return nil, err
		case ok && len(args) > 0:
			return args, nil
		case !ok:
			if err := c.more(); err != nil {
				return nil, err
			}
		}
	}
}
