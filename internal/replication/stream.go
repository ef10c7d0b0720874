package replication

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

// stream reads the primary's stream and does what it says, until the link ends. What is read is this
// server's stream, too: its replicas get the same bytes.
func (l *link) stream() error {
	s := &applying{l: l}
	for {
		space := s.reader.Space()
		n, err := l.in.Read(space)
		if err != nil {
			return err
		}
		s.raw = append(s.raw, space[:n]...)
		s.reader.Advance(n)
		if err := l.inside(s.apply); err != nil {
			return err
		}
	}
}

// errInline ends a stream with a line that is no frame. As in Redis it is a sign of lost bytes.
var errInline = errors.New("the MASTER sends an inline command")

// applying is a stream that is applied.
type applying struct {
	frames
	l     *link
	multi bool // MULTI was read: queue has the commands since
	queue []resp.Args
}

// frames are the commands of a stream, with their bytes.
type frames struct {
	reader resp.Reader
	raw    []byte // read, and not yet taken
	used   int    // the first bytes of raw, whose commands were read
}

// next reads a command, or a newline, which is none. ok is false if the rest of it is missing.
func (f *frames) next() (args resp.Args, ok bool, err error) {
	before := f.reader.Buffered()
	args, ok, err = f.reader.Next(limits)
	if ok && err == nil {
		f.used += before - f.reader.Buffered()
	}
	return args, ok, err
}

// take returns the bytes of the commands that were read.
func (f *frames) take() (read []byte) {
	read = f.raw[:f.used:f.used]
	f.raw, f.used = f.raw[f.used:], 0
	return read
}

// limits are those of a primary: what it sends was accepted by it.
var limits = resp.Limits{MaxBulk: math.MaxInt64 / 2}

// apply runs the complete commands that were read. Those between MULTI and EXEC run together. After a
// malformed one the primary is asked for all data: behind the last command it would send the same again.
func (s *applying) apply() error {
	for {
		begins := s.used
		args, ok, err := s.next()
		if err == nil && ok && len(args) > 0 && s.raw[begins] != '*' {
			err = errInline
		}
		if err != nil {
			s.l.following.known = false
			return err
		}
		if !ok {
			s.raw = slices.Clip(s.raw)
			return nil
		}
		switch {
		case len(args) > 0:
			s.command(args)
		case !s.multi: // a newline, which says that the primary lives, is not a part of the stream
			s.take()
		}
		if !s.multi {
			s.pass()
		}
	}
}

// pass passes what was done on to this server's replicas.
func (s *applying) pass() {
	s.l.r.feed(s.take())
	if len(s.raw) == 0 {
		s.raw = nil
	}
}

func (s *applying) command(args resp.Args) {
	switch name := strings.ToLower(string(args[0])); {
	case name == "multi":
		s.steer(args, func(*command.Ctx) resp.Reply {
			s.multi = true
			return resp.OK
		})
	case name == "exec":
		s.steer(args, func(*command.Ctx) resp.Reply {
			for _, line := range s.queue {
				s.run(line)
			}
			s.multi, s.queue = false, nil
			return resp.NoReply
		})
	case s.multi:
		s.queue = append(s.queue, args.Clone())
	default:
		s.run(args)
	}
}

func (s *applying) run(args resp.Args) {
	r, session := s.l.r, s.l.session
	switch name := strings.ToLower(string(args[0])); {
	case name == "select" && len(args) == 2:
		s.steer(args, func(c *command.Ctx) resp.Reply {
			db, ok := resp.ParseInt(args[1])
			if !ok || db < 0 || db >= int64(c.Space.Len()) {
				return resp.ErrDBIndex // what follows goes to the database of the commands before, as in Redis
			}
			session.DB, r.db = int(db), int(db)
			return resp.OK
		})
	case name == "replconf":
		s.steer(args, func(*command.Ctx) resp.Reply {
			if len(args) == 3 && bytes.EqualFold(args[1], []byte("getack")) {
				s.l.acknowledge(r.offset) // what is before this command
			}
			return resp.NoReply
		})
	case name == "ping":
		s.steer(args, func(*command.Ctx) resp.Reply { return resp.NoReply })
	default:
		s.report(args, r.engine.Apply(session, args))
	}
}

// steer carries out a command that steers the stream.
func (s *applying) steer(args resp.Args, do func(c *command.Ctx) resp.Reply) {
	s.report(args, s.l.r.engine.Steer(s.l.session, args, do))
}

// report logs an error, which the primary is not told.
func (s *applying) report(args resp.Args, reply resp.Reply) {
	if reply.IsError() {
		s.l.r.log.Warn(fmt.Sprintf("== CRITICAL == This replica is sending an error to its master: '%s' "+
			"after processing the command '%s'", reply.Text(), strings.ToLower(string(args[0]))))
	}
}
