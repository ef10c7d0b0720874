package replication

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

// link is a connection to a primary. One goroutine reads it, and enters the engine with what it has
// read. Another one writes acknowledgements.
type link struct {
	r         *Replication
	following *following
	dial      func(ctx context.Context, addr string) (net.Conn, error)
	greeting  greeting
	cancel    context.CancelFunc
	acks      chan int64 // offsets to acknowledge; the last one counts

	heard     atomic.Bool // something was read since the last beat
	silence   int64       // beats since something was read; guarded by the engine
	fileBytes atomic.Int64
	fileRead  atomic.Int64

	nc      net.Conn
	in      *bufio.Reader
	session *command.Session // the primary as a client, once the stream has begun
}

// greeting is what a replica says of itself.
type greeting struct {
	user, password string
	port           int
	ip             string // "": the connection's
}

// errReplaced ends a link that is not wanted any more.
var errReplaced = errors.New("this server follows another one")

// silent counts a second, and reports whether the primary has been silent for more than timeout
// seconds.
func (l *link) silent(timeout int64) bool {
	if l.silence++; l.heard.Swap(false) {
		l.silence = 0
	}
	return l.silence > timeout
}

// acknowledge has the primary told that everything up to offset has arrived.
func (l *link) acknowledge(offset int64) {
	select {
	case <-l.acks:
	default:
	}
	l.acks <- offset
}

// inside runs do inside the engine, unless the link is not wanted any more.
func (l *link) inside(do func() error) (err error) {
	l.r.engine.Outside(func() {
		if l.r.following != l.following || l.following.link != l || l.r.engine.Ending() {
			err = errReplaced
			return
		}
		err = do()
	})
	return err
}

// enter notes a phase.
func (l *link) enter(p phase) error {
	return l.inside(func() error {
		l.following.phase = p
		return nil
	})
}

// run connects and follows, until the connection or ctx ends.
func (l *link) run(ctx context.Context) {
	err := l.follow(ctx)
	l.cancel()
	l.r.engine.Outside(func() { l.r.lost(l, err) })
}

func (l *link) follow(ctx context.Context) error {
	nc, err := l.dial(ctx, l.following.addr())
	if err != nil {
		return err
	}
	var ends sync.WaitGroup
	defer ends.Wait()
	defer l.cancel()
	ends.Go(func() {
		<-ctx.Done()
		nc.Close()
	})
	l.nc, l.in = nc, bufio.NewReaderSize(hearing{nc, &l.heard}, 64<<10)
	if err := l.enter(handshake); err != nil {
		return err
	}
	if err := l.greet(); err != nil {
		return err
	}
	if err := l.sync(ctx); err != nil {
		return err
	}
	ends.Go(func() { l.write(ctx) })
	return l.stream()
}

// hearing notes that something was read.
type hearing struct {
	io.Reader
	heard *atomic.Bool
}

func (h hearing) Read(p []byte) (int, error) {
	n, err := h.Reader.Read(p)
	if n > 0 {
		h.heard.Store(true)
	}
	return n, err
}

// write sends the acknowledgements.
func (l *link) write(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case offset := <-l.acks:
			if err := l.send("REPLCONF", "ACK", strconv.FormatInt(offset, 10)); err != nil {
				l.cancel()
				return
			}
		}
	}
}

func (l *link) send(words ...string) error {
	_, err := l.nc.Write(resp.AppendCommand(nil, words...))
	return err
}

// greet says what this server is. PING comes first: its reply says whether the primary answers. The
// rest goes together.
//
// Redis 7.0.15: syncWithMaster in replication.c.
func (l *link) greet() error {
	if err := l.send("PING"); err != nil {
		return err
	}
	reply, err := l.line()
	if err != nil {
		return err
	}
	if !strings.HasPrefix(reply, "+") && !strings.HasPrefix(reply, "-NOAUTH") &&
		!strings.HasPrefix(reply, "-NOPERM") && !strings.HasPrefix(reply, "-ERR operation not permitted") {
		return fmt.Errorf("error reply to PING: %s", reply)
	}
	g := l.greeting
	lines := [][]string{{"REPLCONF", "listening-port", strconv.Itoa(g.port)}}
	if g.ip != "" {
		lines = append(lines, []string{"REPLCONF", "ip-address", g.ip})
	}
	lines = append(lines, []string{"REPLCONF", "capa", "eof", "capa", "psync2"})
	if g.password != "" {
		auth := []string{"AUTH", g.password}
		if g.user != "" {
			auth = []string{"AUTH", g.user, g.password}
		}
		lines = append([][]string{auth}, lines...)
	}
	for _, words := range lines {
		if err := l.send(words...); err != nil {
			return err
		}
	}
	for _, words := range lines {
		reply, err := l.line()
		switch {
		case err != nil:
			return err
		case strings.HasPrefix(reply, "-") && words[0] == "AUTH":
			return fmt.Errorf("unable to AUTH: %s", reply)
		case strings.HasPrefix(reply, "-"):
			l.r.log.Info("The MASTER does not understand REPLCONF", "option", words[1], "reply", reply)
		}
	}
	return nil
}

// mostLine is how long a line may be that is no part of the stream, in bytes.
const mostLine = 1024

// line reads a line. Empty lines say only that the primary lives.
func (l *link) line() (line string, err error) {
	for line == "" {
		var b []byte
		for {
			c, err := l.in.ReadByte()
			if err != nil {
				return "", err
			}
			if c == '\n' {
				break
			}
			if b = append(b, c); len(b) > mostLine {
				return "", errors.New("the MASTER sends a line without an end")
			}
		}
		line = strings.TrimSuffix(string(b), "\r")
	}
	return line, nil
}

// sync asks for the stream, and gets all data first if the primary says so.
func (l *link) sync(ctx context.Context) error {
	var request []string
	err := l.inside(func() error {
		request = l.r.psync(l.following)
		return nil
	})
	if err != nil {
		return err
	}
	if err := l.send(request...); err != nil {
		return err
	}
	reply, err := l.line()
	if err != nil {
		return err
	}
	words := strings.Fields(reply)
	if len(words) == 0 {
		return errors.New("the MASTER replies nothing to PSYNC")
	}
	err = l.inside(func() error {
		l.r.handed(words[0] == "+FULLRESYNC" || words[0] == "+CONTINUE")
		return nil
	})
	if err != nil {
		return err
	}
	switch {
	case words[0] == "+FULLRESYNC" && len(words) == 3:
		at, err := strconv.ParseInt(words[2], 10, 64)
		if err != nil || len(words[1]) != len(noID) || at < 0 {
			return fmt.Errorf("wrong reply to PSYNC: %s", reply)
		}
		return l.fullSync(ctx, words[1], at)
	case words[0] == "+CONTINUE":
		id := request[1]
		if len(words) > 1 && len(words[1]) == len(noID) {
			id = words[1]
		}
		return l.inside(func() error {
			l.r.continues(l, id)
			return nil
		})
	}
	return fmt.Errorf("reply to PSYNC: %s", reply)
}

// continues notes that the primary continues the stream that this server has. It may have another id
// now.
func (r *Replication) continues(l *link, id string) {
	if was := r.currentID(); id != was {
		r.id, r.id2, r.offset2 = id, was, r.offset+1
		r.log.Info("Master replication ID changed to " + id)
		r.cutReplicas()
	}
	if r.backlog == nil {
		r.backlog = newBacklog(r.env.Config.Replication.Backlog, r.offset)
	}
	r.log.Info("Successful partial resynchronization with master.")
	l.up()
}

// up begins the stream.
func (l *link) up() {
	f, r := l.following, l.r
	f.phase, f.known = connected, true
	select {
	case <-r.linked:
	default:
		close(r.linked)
	}
	l.session = &command.Session{Addr: l.nc.RemoteAddr().String(), LAddr: l.nc.LocalAddr().String(),
		Primary: true, Conn: linkConn{l}}
	r.engine.Join(l.session)
	l.session.User, l.session.DB = nil, max(r.db, 0)
	l.session.Authenticated.Store(true)
	r.engine.Attend()
	l.acknowledge(r.offset)
}

// linkConn is a link as the connection of its session. Nothing is written to it.
type linkConn struct{ l *link }

func (linkConn) Write([]byte) bool                 { return true }
func (c linkConn) Kill()                           { c.l.cancel() }
func (linkConn) Wake()                             {}
func (linkConn) Sizes(bool) (none command.Buffers) { return none }
