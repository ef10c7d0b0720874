package control

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/lockredis/lockredis/internal/backdoor"
	"github.com/lockredis/lockredis/resp"
)

const (
	secretBytes = 32
	patience    = 10 * time.Second // that a connection has to send the secret
	maxUnproven = 64               // connections without the secret; another one ends the oldest
	maxBulk     = 512 << 20        // bytes of an argument, as in Redis
	chunkBytes  = 4 << 10          // that are read at once
	acceptPause = 10 * time.Millisecond
)

// Door is an open door. Its goroutines end with Close.
type Door struct {
	inside   backdoor.Inside // of the server
	clocks   *clocks         // of all servers
	faults   backdoor.Faults
	secret   string
	listener net.Listener

	mu       sync.Mutex // guards the fields below
	conns    map[net.Conn]struct{}
	unproven []net.Conn // those without the secret, oldest first
	closed   bool
	reset    func() error   // of the last Remember
	counted  map[string]int // requests by name, at the last Remember

	done sync.WaitGroup
}

// Open opens a door to each of the servers of the process. The error is that of listening on the
// loopback interface.
func Open(servers ...backdoor.Inside) (doors []*Door, err error) {
	clocks := &clocks{servers: servers}
	for _, inside := range servers {
		door, err := open(inside, clocks)
		if err != nil {
			for _, d := range doors {
				d.Close()
			}
			return nil, err
		}
		doors = append(doors, door)
	}
	return doors, nil
}

func open(inside backdoor.Inside, clocks *clocks) (*Door, error) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		var err6 error
		if listener, err6 = net.Listen("tcp6", "[::1]:0"); err6 != nil {
			return nil, errors.Join(err, err6)
		}
	}
	secret := make([]byte, secretBytes)
	rand.Read(secret) // never fails
	d := &Door{
		inside: inside, clocks: clocks, faults: inside.Faults(), secret: hex.EncodeToString(secret),
		listener: listener, conns: map[net.Conn]struct{}{}, reset: inside.Remember(),
	}
	d.done.Add(1)
	go d.accept()
	return d, nil
}

// Addr returns where the door listens, "host:port".
func (d *Door) Addr() string { return d.listener.Addr().String() }

// Secret returns what AUTH needs.
func (d *Door) Secret() string { return d.secret }

// Close closes the door and its connections, and waits for their goroutines. A command that runs is
// waited for, so the server is closed before: that ends an endless script. A nil Door has nothing to
// close.
func (d *Door) Close() {
	if d == nil {
		return
	}
	d.mu.Lock()
	d.closed = true
	for conn := range d.conns {
		conn.Close()
	}
	d.mu.Unlock()
	d.listener.Close()
	d.done.Wait()
}

func (d *Door) accept() {
	defer d.done.Done()
	for {
		conn, err := d.listener.Accept()
		switch {
		case err == nil:
			d.enter(conn)
		case errors.Is(err, net.ErrClosed):
			return
		default:
			time.Sleep(acceptPause) // no file is left for it
		}
	}
}

// enter starts serving a connection.
func (d *Door) enter(conn net.Conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		conn.Close()
		return
	}
	if len(d.unproven) == maxUnproven {
		d.unproven[0].Close()
		d.unproven = d.unproven[1:]
	}
	d.conns[conn] = struct{}{}
	d.unproven = append(d.unproven, conn)
	d.done.Add(1)
	go d.serve(conn)
}

// proven says that a connection has the secret, or has ended.
func (d *Door) proven(conn net.Conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, one := range d.unproven {
		if one == conn {
			d.unproven = append(d.unproven[:i:i], d.unproven[i+1:]...)
			return
		}
	}
}

func (d *Door) leave(conn net.Conn) {
	conn.Close()
	d.proven(conn)
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.conns, conn)
}

func (d *Door) serve(conn net.Conn) {
	defer d.done.Done()
	defer d.leave(conn)
	c := &client{Conn: conn}
	conn.SetReadDeadline(time.Now().Add(patience))
	args, err := c.next(true)
	if err != nil {
		return
	}
	refusal := d.check(args)
	if refusal.IsError() {
		conn.Write(resp.Append(nil, refusal, 2))
		return
	}
	d.proven(conn)
	conn.SetReadDeadline(time.Time{})
	c.readAhead(&d.done)
	defer conn.Close() // ends the reading
	visitor := d.inside.Visit()
	defer visitor.Leave()
	for out := resp.Append(nil, resp.OK, 2); out != nil; {
		if _, err := conn.Write(out); err != nil {
			return
		}
		if args, err = c.next(false); err != nil {
			return
		}
		out = d.run(c, visitor, args)
	}
}

// run runs a command and returns the encoded reply, nil if the client has gone meanwhile.
func (d *Door) run(c *client, visitor backdoor.Visitor, args resp.Args) []byte {
	if strings.EqualFold(string(args[0]), "control") {
		return d.control(args)
	}
	if err := d.inside.Running(); err != nil {
		return resp.Append(nil, resp.Error("ERR "+err.Error()), 2)
	}
	visitor.Run(args)
	for {
		select {
		case reply := <-visitor.Replies():
			return reply
		case chunk, ok := <-c.chunks:
			if !ok {
				return nil
			}
			c.add(chunk)
		}
	}
}

// check returns an error reply unless args is AUTH with the secret.
func (d *Door) check(args resp.Args) resp.Reply {
	switch {
	case !strings.EqualFold(string(args[0]), "auth"):
		return resp.Error("NOAUTH Authentication required.")
	case len(args) != 2 || subtle.ConstantTimeCompare(args[1], []byte(d.secret)) == 0:
		return resp.Error("WRONGPASS this is not the secret")
	}
	return resp.OK
}
