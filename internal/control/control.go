package control

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"io"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lockredis/lockredis/internal/backdoor"
	"github.com/lockredis/lockredis/internal/fault"
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

var errControl = resp.Error("ERR syntax error. Try CONTROL REMEMBER, RESET, FLUSH, LOAD, ENDSCRIPT, " +
	"STOP, START, TURN, COUNTS, CUT or SILENCE.")

// Door is an open door. Its goroutines end with Close.
type Door struct {
	inside   backdoor.Inside // of the server
	hands    *hands
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
	hands := &hands{servers: servers}
	for _, inside := range servers {
		door, err := open(inside, hands)
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

func open(inside backdoor.Inside, hands *hands) (*Door, error) {
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
		inside: inside, hands: hands, faults: inside.Faults(), secret: hex.EncodeToString(secret), listener: listener,
		conns: map[net.Conn]struct{}{}, reset: inside.Remember(),
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

// control carries out a CONTROL and returns the encoded reply.
func (d *Door) control(args resp.Args) []byte {
	reply, failure := d.carryOut(args)
	if reply == nil {
		reply = resp.Append(nil, failure, 2)
	}
	return reply
}

func (d *Door) carryOut(args resp.Args) (encoded []byte, reply resp.Reply) {
	if len(args) < 2 {
		return nil, errControl
	}
	tell := func(run func(...string) resp.Reply) {
		encoded = resp.Append(nil, run("LOCK.LEAKS", "ALL"), 2)
	}
	switch word := strings.ToLower(string(args[1])); {
	case word == "cut":
		return nil, howMany(d.faults.Cut, args[2:])
	case word == "silence":
		return nil, howMany(d.faults.Silence, args[2:])
	case word == "turn":
		return nil, d.turn(args[2:])
	case word == "load" && len(args) == 3:
		d.inside.PutBackSlots()
		err := d.inside.Load(args[2], tell)
		return encoded, outcome(err)
	case len(args) > 2:
		return nil, errControl
	case word == "remember":
		d.remember()
		return nil, resp.OK
	case word == "reset":
		return nil, outcome(d.putBack())
	case word == "stop", word == "start":
		return nil, outcome(d.outage(word == "stop"))
	case word == "flush":
		d.inside.Together(func(run func(...string) resp.Reply) {
			tell(run)
			run("FLUSHALL")
		})
		d.inside.PutBackSlots()
		return encoded, resp.NoReply
	case word == "endscript":
		d.inside.EndScript()
		return nil, resp.OK
	case word == "counts":
		return nil, d.counts()
	}
	return nil, errControl
}

// putBack puts back what the last Remember has remembered.
func (d *Door) putBack() error {
	d.mu.Lock()
	reset := d.reset
	d.mu.Unlock()
	return reset()
}

// outage begins an outage of the server, or ends it: the server is then as after a start. The error
// says that the server has ended for good.
func (d *Door) outage(begin bool) error {
	if err := d.inside.Running(); err != nil {
		return err
	}
	if begin {
		d.inside.EndScript() // Stop would wait for it
		d.inside.Stop()
		return nil
	}
	err := d.putBack() // first: it ends a script, for which Serve would wait
	d.inside.Serve(false)
	return err
}

// remember makes the present state the one that RESET puts back, and that COUNTS counts from.
func (d *Door) remember() {
	reset, counted := d.inside.Remember(), d.faults.Requests()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.reset, d.counted = reset, counted
}

// counts replies how many requests of each name clients have sent since the last Remember, in the
// order of the names.
func (d *Door) counts() resp.Reply {
	now := d.faults.Requests()
	d.mu.Lock()
	defer d.mu.Unlock()
	var pairs []resp.Reply
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if n := now[name] - d.counted[name]; n > 0 {
			pairs = append(pairs, resp.BulkString(name), resp.Int(int64(n)))
		}
	}
	return resp.Map(pairs...)
}

// howMany calls cut with a function for the clients that the words select, and replies its result:
// [CLIENT name] [SUBSCRIBED].
func howMany(cut func(which func(fault.Client) bool) int, words resp.Args) resp.Reply {
	var name string
	var subscribed bool
	for len(words) > 0 {
		switch {
		case strings.EqualFold(string(words[0]), "client") && len(words) > 1:
			name, words = words.String(1), words[2:]
		case strings.EqualFold(string(words[0]), "subscribed"):
			subscribed, words = true, words[1:]
		default:
			return errControl
		}
	}
	return resp.Int(int64(cut(func(c fault.Client) bool {
		return (name == "" || c.Name == name) && (!subscribed || c.Subscribed)
	})))
}

// outcome returns OK, or an error reply.
func outcome(err error) resp.Reply {
	if err != nil {
		return resp.Error("ERR " + strings.ReplaceAll(err.Error(), "\n", ", "))
	}
	return resp.OK
}
