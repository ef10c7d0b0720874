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

	"github.com/lockredis/lockredis/resp"
)

const (
	secretBytes = 32
	patience    = 10 * time.Second // that a connection has to send the secret
	maxUnproven = 64               // connections without the secret; another one ends the oldest
	maxBulk     = 512 << 20        // bytes of an argument, as in Redis
	acceptPause = 10 * time.Millisecond
)

// Node is the server behind a door.
type Node struct {
	// Call runs a command. The reply is valid until use returns.
	Call func(db int, args resp.Args, use func(resp.Reply))

	// Running returns nil while the server runs.
	Running func() error

	// EndScript ends the running script.
	EndScript func()

	// Reset puts settings, users and libraries back, and ends what keeps commands waiting.
	Reset func() error
}

// Door is an open door. Its goroutines end with Close.
type Door struct {
	node     Node
	secret   string
	listener net.Listener

	mu       sync.Mutex // guards the fields below
	conns    map[net.Conn]struct{}
	unproven []net.Conn // those without the secret, oldest first
	closed   bool

	done sync.WaitGroup
}

// Open opens a door to a server. The error is that of listening on the loopback interface.
func Open(node Node) (*Door, error) {
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
		node: node, secret: hex.EncodeToString(secret), listener: listener, conns: map[net.Conn]struct{}{},
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
	var in resp.Reader
	conn.SetReadDeadline(time.Now().Add(patience))
	args, err := next(conn, &in, true)
	if err != nil {
		return
	}
	if refusal := d.check(args); refusal.IsError() {
		conn.Write(resp.Append(nil, refusal, 2))
		return
	}
	d.proven(conn)
	conn.SetReadDeadline(time.Time{})
	out := resp.Append(nil, resp.OK, 2)
	for {
		if _, err := conn.Write(out); err != nil {
			return
		}
		args, err := next(conn, &in, false)
		if err != nil {
			return
		}
		out = d.run(args)
	}
}

// next waits for the next command that has words.
func next(conn net.Conn, in *resp.Reader, unproven bool) (resp.Args, error) {
	limits := resp.Limits{MaxBulk: maxBulk, Unauthenticated: unproven}
	for {
		args, ok, err := in.Next(limits)
		if err != nil {
			conn.Write(resp.Append(nil, resp.Error("ERR "+err.Error()), 2))
			return nil, err
		}
		if ok && len(args) > 0 {
			return args, nil
		}
		if ok {
			continue
		}
		n, err := conn.Read(in.Space())
		if n == 0 && err != nil {
			return nil, err
		}
		in.Advance(n)
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

// run runs a command and returns the encoded reply.
func (d *Door) run(args resp.Args) (reply []byte) {
	if strings.EqualFold(string(args[0]), "control") {
		return resp.Append(nil, d.control(args), 2)
	}
	if err := d.node.Running(); err != nil {
		return resp.Append(nil, resp.Error("ERR "+err.Error()), 2)
	}
	d.node.Call(0, args, func(r resp.Reply) { reply = resp.Append(nil, r, 2) })
	return reply
}

// control carries out a CONTROL.
func (d *Door) control(args resp.Args) resp.Reply {
	if len(args) != 2 {
		return resp.ErrArity("control")
	}
	switch strings.ToLower(string(args[1])) {
	case "reset":
		if err := d.node.Reset(); err != nil {
			return resp.Error("ERR " + strings.ReplaceAll(err.Error(), "\n", ", "))
		}
	case "endscript":
		d.node.EndScript()
	default:
		return resp.Errorf("ERR unknown subcommand '%s'. Try RESET or ENDSCRIPT.", args[1])
	}
	return resp.OK
}
