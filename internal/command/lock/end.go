package lock

import (
	"encoding/hex"
	"slices"
	"strconv"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/inspect"
	"github.com/lockredis/lockredis/internal/lockkeys"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

// lockEnd runs LOCK.END name [owner]: the lease of the owner ends now, or all leases.
func lockEnd(c *command.Ctx, args resp.Args) resp.Reply {
	if len(args) > 3 {
		return resp.ErrArity(c.Cmd.Name)
	}
	ends := func(h inspect.Holder) bool { return len(args) == 2 || h.Owner == args.String(2) }
	view := c.Inspector.Inside()
	locks := view.At(c.DB.ID(), args.String(1))
	var owners []string
	woken := 0
	for i := range locks {
		l := &locks[i]
		var ending, left []inspect.Holder
		for _, h := range l.Holders {
			if ends(h) {
				ending = append(ending, h)
				owners = append(owners, h.Owner)
			} else {
				left = append(left, h)
			}
		}
		if len(ending) > 0 && end(c, l, ending, left) {
			woken += view.Announce(l, c.Turning.Real())
		}
	}
	return resp.Map(
		resp.BulkString("ended"), names(slices.Compact(owners)), // an owner may hold a lock in two modes
		resp.BulkString("woken"), resp.Int(int64(woken)))
}

// end ends the leases of some holders of l. It reports whether a waiter may acquire something now.
func end(c *command.Ctx, l *inspect.Lock, ending, left []inspect.Holder) bool {
	for _, h := range ending {
		if h.Mode != inspect.Read {
			continue
		}
		for n := range h.Count {
			expire(c, lockkeys.ReadHolds(l.Name, h.Owner)+":"+strconv.Itoa(n+1))
		}
	}
	switch {
	case l.Kind == inspect.PermitSemaphore:
		lapse(c, l, ending)
		return true
	case len(left) == 0:
		expire(c, l.Name)
		return true
	}
	removeHolds(c, l, ending)
	if l.Deadline > 0 && l.Kind != inspect.Multi {
		shorten(c, l, left)
	}
	return l.Kind == inspect.Multi // another value of the group is free
}

// expire ends a key, if there is one, as at its deadline.
func expire(c *command.Ctx, key string) {
	if e := c.DB.Peek([]byte(key)); e != nil {
		c.DB.Expire(e)
	}
}

// lapse makes the leases of permits end now: by the server's clock, and by the clients' clocks, which
// their scripts compare with. The next client's script returns the permits to the semaphore.
func lapse(c *command.Ctx, l *inspect.Lock, ending []inspect.Holder) {
	key := []byte(lockkeys.PermitTimeouts(l.Name))
	e := c.DB.LookupWrite(key)
	leases, _ := command.As[*store.ZSet](e)
	now := min(c.Now(), c.Turning.Real().UnixMilli())
	for _, h := range ending {
		member := []byte(h.Owner)
		if raw, err := hex.DecodeString(h.Owner); err == nil {
			if _, has := leases.Score(raw); has {
				member = raw
			}
		}
		leases.Update(member, float64(now))
		c.Change(e, command.ZSetClass, "zadd", 1)
		c.Tell([]byte("ZADD"), key, command.Digits(now), member)
	}
}

// removeHolds removes the fields of some holders. The lock keeps others.
func removeHolds(c *command.Ctx, l *inspect.Lock, ending []inspect.Holder) {
	e := c.DB.LookupWrite([]byte(l.Name))
	h, _ := command.As[*store.Hash](e)
	var fields resp.Args
	for _, holder := range ending {
		for _, field := range inspect.Fields(l, h, holder) {
			h.Delete(field)
			fields = append(fields, field)
		}
	}
	c.Change(e, command.HashClass, "hdel", int64(len(fields)), command.Went(fields))
	c.Tell(append(resp.Args{command.WordHdel, []byte(l.Name)}, fields...)...)
}

// shorten makes a lock end with the longest lease that is left, as the release of a read lock does.
func shorten(c *command.Ctx, l *inspect.Lock, left []inspect.Holder) {
	at := int64(0)
	for _, h := range left {
		at = max(at, h.Deadline)
	}
	if at <= c.Now() || at >= l.Deadline {
		return
	}
	e := c.DB.LookupWrite([]byte(l.Name))
	c.DB.SetDeadline(e, at)
	c.Change(e, command.Generic, "expire", 1)
	c.Tell(command.WordPexpireat, []byte(l.Name), command.Digits(at))
}
