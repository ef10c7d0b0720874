package lock

import (
	"math"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/inspect"
	"github.com/lockredis/lockredis/internal/lockkeys"
	"github.com/lockredis/lockredis/resp"
)

// state is the state of a lock that a client waits for.
type state struct {
	name     string
	is       func(s *state, v inspect.View, db int) (is bool, again int64) // held, free or waitedFor
	now      int64                                                         // Unix ms
	waiters  int64
	owner    string
	hasOwner bool // the state is about one owner
}

// lockAwait runs LOCK.AWAIT name HELD|FREE|WAITERS n [OWNER owner] [TIMEOUT ms]. It replies OK when
// the lock has the state, nil at the timeout.
func lockAwait(c *command.Ctx, args resp.Args) resp.Reply {
	s, timeout, failure := parseAwait(args)
	if failure.IsError() {
		return failure
	}
	p := &command.Parked{
		Session: c.Session, Cmd: c.Cmd, DB: c.DB.ID(), OnTimeout: resp.Nil, Looks: true,
		Keys: []string{
			s.name, lockkeys.FairQueue(s.name), lockkeys.FairTimeouts(s.name), lockkeys.PermitTimeouts(s.name),
		},
	}
	for _, key := range append(p.Keys, s.owner) {
		p.Bytes += int64(len(key))
	}
	p.Serve = func(c *command.Ctx, _ []byte) (reply resp.Reply, served bool) {
		s.now = c.Now()
		served, p.Again = s.is(s, c.Inspector.Inside(), p.DB)
		return resp.OK, served
	}
	if reply, served := p.Serve(c, nil); served {
		return reply
	}
	if c.DenyBlocking() {
		return resp.Nil
	}
	if timeout > 0 && timeout <= math.MaxInt64-c.Now() {
		p.Deadline = c.Now() + timeout
	}
	c.Parking.Park(p)
	return resp.NoReply
}

// parseAwait reads the arguments of LOCK.AWAIT. timeout is in ms; 0: none.
func parseAwait(args resp.Args) (s *state, timeout int64, failure resp.Reply) {
	s = &state{name: args.String(1)}
	options := args[3:]
	switch {
	case command.IsWord(args[2], "held"):
		s.is = (*state).held
	case command.IsWord(args[2], "free"):
		s.is = (*state).free
	case command.IsWord(args[2], "waiters") && len(args) > 3:
		s.is = (*state).waitedFor
		if s.waiters, failure = command.ParseAtLeast(args[3], 0); failure.IsError() {
			return nil, 0, failure
		}
		options = args[4:]
	default:
		return nil, 0, resp.ErrSyntax
	}
	for ; len(options) > 1; options = options[2:] {
		switch {
		case command.IsWord(options[0], "owner"):
			s.owner, s.hasOwner = options.String(1), true
		case command.IsWord(options[0], "timeout"):
			if timeout, failure = command.ParseTimeoutMillis(options[1]); failure.IsError() {
				return nil, 0, failure
			}
		default:
			return nil, 0, resp.ErrSyntax
		}
	}
	if len(options) > 0 {
		return nil, 0, resp.ErrSyntax
	}
	return s, timeout, resp.NoReply
}

// held reports whether the lock has a holder. again is when a lease ends without a change of any key, in
// Unix ms; 0: none does.
func (s *state) held(v inspect.View, db int) (is bool, again int64) {
	locks := v.At(db, s.name)
	for i := range locks {
		for _, h := range locks[i].Holders {
			is = is || !s.hasOwner || h.Owner == s.owner
		}
	}
	return is, nextEnd(locks, s.now)
}

func (s *state) free(v inspect.View, db int) (is bool, again int64) {
	held, again := s.held(v, db)
	return !held, again
}

// settled is how long a client is subscribed to a release before it counts as a waiter although it is not
// known to have asked again since, in ms.
const settled = 100

// waitedFor reports whether at least so many owners wait, or clients; with 0, whether none does. again is
// when there may be another answer without a change of any key, in Unix ms; 0: never.
func (s *state) waitedFor(v inspect.View, db int) (is bool, again int64) {
	look := func(at int64) {
		if at > s.now && (again == 0 || at < again) {
			again = at
		}
	}
	var owners, clients int64
	for _, a := range v.Waiting(db, s.name) {
		if a.Waits && (!s.hasOwner || a.Owner == s.owner) {
			owners++
		}
		look(a.Ends)
	}
	locks := v.Named(db, s.name)
	for i := range locks {
		for _, waiters := range [][]inspect.Waiter{locks[i].Queue, locks[i].Listeners} {
			for _, w := range waiters {
				if s.hasOwner && w.Owner != s.owner {
					continue
				}
				if w.Since+settled <= s.now {
					clients++
				}
				look(w.Since + settled)
			}
		}
	}
	n := max(owners, clients)
	return n >= s.waiters && (s.waiters > 0 || n == 0), again
}

// nextEnd returns when the first lease ends after now, in Unix ms; 0: none does. A permit ends without a
// change of any key.
func nextEnd(locks []inspect.Lock, now int64) (at int64) {
	for i := range locks {
		for _, h := range locks[i].Holders {
			if h.Deadline > now && (at == 0 || h.Deadline < at) {
				at = h.Deadline
			}
		}
	}
	return at
}
