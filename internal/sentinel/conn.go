package sentinel

import (
	"context"
	"errors"
	"net"
	"strconv"
	"sync"

	"github.com/lockredis/lockredis/resp"
)

// conn is one connection of a link. Commands may be sent from the beginning: they wait until
// the connection is established.
type conn struct {
	s        *Sentinel
	commands bool // it is the link's cmd
	instance *instance

	// The engine's lock guards these.
	link    *link              // nil: the link has closed or lost the connection
	replies []func(resp.Reply) // what to do with the replies to come, in order
	localIP string             // this end's address, "" before the connection is established

	cancel context.CancelFunc

	mu  sync.Mutex // guards out
	out []byte     // not written yet
	// more is signalled when out is no longer empty. Capacity 1.
	more chan struct{}
}

// ignore is what is done with a reply that does not matter.
func ignore(resp.Reply) {}

// open begins to connect to i.
func (s *Sentinel) open(i *instance, commands bool) *conn {
	ctx, cancel := context.WithCancel(s.ctx)
	c := &conn{s: s, commands: commands, instance: i, link: i.link, cancel: cancel,
		more: make(chan struct{}, 1)}
	addr, resolve := i.addr, s.global.resolveHostnames
	s.spawn(func() { c.run(ctx, addr, resolve) })
	return c
}

// close ends the connection and forgets the replies to come.
func (c *conn) close() {
	c.link = nil
	c.cancel()
}

// send queues a command. reply is called inside the engine when the reply arrives; it is not
// called when the connection ends before. On a subscribed connection reply is nil: what
// arrives after the replies to earlier commands are messages.
func (c *conn) send(reply func(resp.Reply), words ...string) {
	if reply != nil {
		c.replies = append(c.replies, reply)
	}
	if c.commands {
		c.link.pending++
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out = resp.AppendCommand(c.out, words...)
	select {
	case c.more <- struct{}{}:
	default:
	}
}

// run connects, reads until the connection ends, and tells the link.
func (c *conn) run(ctx context.Context, addr address, resolve bool) {
	defer c.cancel()
	if nc, err := c.connect(ctx, addr, resolve); err == nil {
		c.serve(ctx, nc)
	}
	c.s.engine.Outside(func() {
		if c.link != nil {
			c.link.lost(c)
		}
	})
}

// connect resolves the address, if it must, and dials it.
func (c *conn) connect(ctx context.Context, addr address, resolve bool) (net.Conn, error) {
	if resolve && canonical(addr.host) == "" {
		if ip, err := c.s.opts.Resolve(ctx, addr.host); err == nil {
			addr.ip = ip.String()
			c.s.engine.Outside(func() {
				if i := c.instance; i.addr.host == addr.host && i.addr.port == addr.port {
					i.addr.ip = addr.ip
				}
			})
		}
	}
	if addr.ip == "" {
		return nil, net.UnknownNetworkError(addr.host)
	}
	nc, err := c.s.opts.Dial(ctx, net.JoinHostPort(addr.ip, strconv.Itoa(addr.port)))
	if nc == nil && err == nil { // a program may give its own Dial
		err = errors.New("dial returned no connection")
	}
	return nc, err
}

// serve reads from an established connection until it ends or ctx does. A second goroutine
// writes.
func (c *conn) serve(ctx context.Context, nc net.Conn) {
	var ends sync.WaitGroup
	defer ends.Wait()
	defer c.cancel()
	ends.Go(func() {
		<-ctx.Done()
		nc.Close()
	})
	ends.Go(func() { c.write(ctx, nc) })
	if tcp, ok := nc.LocalAddr().(*net.TCPAddr); ok {
		ip := tcp.AddrPort().Addr().Unmap().WithZone("").String()
		c.s.engine.Outside(func() { c.localIP = ip })
	}
	reader := resp.NewReplyReader(nc)
	for {
		reply, err := reader.Next()
		if err != nil {
			return
		}
		c.s.engine.Outside(func() { c.take(reply) })
	}
}

// write writes what send has queued, until ctx ends or the connection fails.
func (c *conn) write(ctx context.Context, nc net.Conn) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.more:
		}
		c.mu.Lock()
		out := c.out
		c.out = nil
		c.mu.Unlock()
		if _, err := nc.Write(out); err != nil {
			c.cancel()
			return
		}
	}
}

// take gives a reply to the function that waits for it, or a message to the Sentinel.
func (c *conn) take(reply resp.Reply) {
	if c.link == nil {
		return
	}
	if len(c.replies) == 0 {
		switch {
		case c.commands:
		case reply.IsError(): // SUBSCRIBE is refused. Without its channel the link is not connected
			c.link.close(c)
		default:
			c.s.receiveHello(c, reply)
		}
		return
	}
	next := c.replies[0]
	c.replies = c.replies[1:]
	if c.commands {
		c.link.pending--
	}
	next(reply)
}
