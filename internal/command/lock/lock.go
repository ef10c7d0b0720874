package lock

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/glob"
	"github.com/lockredis/lockredis/internal/inspect"
	"github.com/lockredis/lockredis/resp"
)

// lockList runs LOCK.LIST [pattern]. Without a pattern it returns all locks.
func lockList(c *command.Ctx, args resp.Args) resp.Reply {
	if len(args) > 2 {
		return resp.ErrArity(c.Cmd.Name)
	}
	pattern := "*"
	if len(args) == 2 {
		pattern = args.String(1)
	}
	locks := c.Inspector.Inside().List()
	rows := make([]resp.Reply, 0, len(locks))
	for i := range locks {
		if pattern == "*" || glob.Match(pattern, locks[i].Name, false) {
			rows = append(rows, lockRow(&locks[i], c.Now()))
		}
	}
	return resp.Array(rows...)
}

func lockRow(l *inspect.Lock, now int64) resp.Reply {
	holders := make([]resp.Reply, len(l.Holders))
	for i := range l.Holders {
		h := &l.Holders[i]
		holders[i] = resp.Map(append([]resp.Reply{
			resp.BulkString("owner"), resp.BulkString(h.Owner),
			resp.BulkString("mode"), resp.BulkString(string(h.Mode)),
			resp.BulkString("holds"), resp.Int(int64(h.Count)),
			resp.BulkString("ttl"), millisUntil(h.Deadline, now),
			resp.BulkString("held-ms"), millisSince(h.Since, now),
		}, clientFields(h.By)...)...)
	}
	queue := make([]resp.Reply, 0, len(l.Queue)+len(l.Listeners))
	for _, waiters := range [][]inspect.Waiter{l.Queue, l.Listeners} {
		for i := range waiters {
			w := &waiters[i]
			queue = append(queue, resp.Map(append([]resp.Reply{
				resp.BulkString("owner"), resp.BulkString(w.Owner),
				resp.BulkString("waits-ms"), millisSince(w.Since, now),
			}, clientFields(w.By)...)...))
		}
	}
	return resp.Map(
		resp.BulkString("name"), resp.BulkString(l.Name),
		resp.BulkString("db"), resp.Int(int64(l.DB)),
		resp.BulkString("kind"), resp.BulkString(l.Kind.Family()),
		resp.BulkString("ttl"), millisUntil(l.Deadline, now),
		resp.BulkString("holders"), resp.Array(holders...),
		resp.BulkString("queue"), resp.Array(queue...))
}

// lockLeaks runs LOCK.LEAKS [ALL].
func lockLeaks(c *command.Ctx, args resp.Args) resp.Reply {
	if len(args) > 2 {
		return resp.ErrArity(c.Cmd.Name)
	}
	all := len(args) == 2
	if all && !command.IsWord(args[1], "all") {
		return resp.ErrSyntax
	}
	view := c.Inspector.Inside()
	seen := view.Look()
	var leaks []inspect.Leak
	if all {
		leaks = seen.AllLeaks()
	} else {
		leaks = seen.Leaks()
	}
	rows := make([]resp.Reply, len(leaks))
	for i := range leaks {
		rows[i] = leakRow(&leaks[i], seen.Now, all)
	}
	if all {
		acquired := view.Acquired()
		for i := range acquired {
			rows = append(rows, acquiredRow(&acquired[i], seen.Now))
		}
	}
	return resp.Array(rows...)
}

// leakRow returns the fields of a leak. With all it tells whether the leak counts without ALL.
func leakRow(l *inspect.Leak, now int64, all bool) resp.Reply {
	holds, ttl := int64(-1), resp.Int(-1)
	if l.Holds > 0 {
		holds, ttl = int64(l.Holds), millisUntil(l.Deadline, now)
	}
	fields := append([]resp.Reply{
		resp.BulkString("type"), resp.BulkString(string(l.Type)),
		resp.BulkString("name"), resp.BulkString(l.Name),
		resp.BulkString("db"), resp.Int(int64(l.DB)),
		resp.BulkString("owner"), resp.BulkString(l.Owner),
		resp.BulkString("waits-for"), resp.BulkString(l.WaitsFor),
		resp.BulkString("kind"), resp.BulkString(l.Kind.Family()),
		resp.BulkString("mode"), resp.BulkString(string(l.Mode)),
		resp.BulkString("holds"), resp.Int(holds),
		resp.BulkString("held-ms"), millisSince(l.Since, now),
		resp.BulkString("ttl"), ttl,
	}, clientFields(l.By)...)
	if all {
		counts := int64(1)
		if l.Idle {
			counts = 0
		}
		fields = append(fields, resp.BulkString("counts"), resp.Int(counts))
	}
	return resp.Map(append(fields, resp.BulkString("text"), resp.BulkString(l.Text()))...)
}

// acquiredRow returns how often an owner has acquired a lock, as a row that does not count.
func acquiredRow(a *inspect.Acquired, now int64) resp.Reply {
	return resp.Map(append(append([]resp.Reply{
		resp.BulkString("type"), resp.BulkString("acquired"),
		resp.BulkString("name"), resp.BulkString(a.Name),
		resp.BulkString("db"), resp.Int(int64(a.DB)),
		resp.BulkString("owner"), resp.BulkString(a.Owner),
		resp.BulkString("times"), resp.Int(a.Count),
		resp.BulkString("held-ms"), millisSince(a.Since, now),
	}, clientFields(a.By)...),
		resp.BulkString("counts"), resp.Int(0),
		resp.BulkString("text"), resp.BulkString(a.Text(now)))...)
}

// clientFields returns the fields of a client: -1 and "" if it is unknown.
func clientFields(o inspect.Origin) []resp.Reply {
	id := o.ID
	if id == 0 {
		id = -1
	}
	return []resp.Reply{
		resp.BulkString("client-id"), resp.Int(id),
		resp.BulkString("client-name"), resp.BulkString(o.Name),
		resp.BulkString("client-addr"), resp.BulkString(o.Addr),
	}
}

// millisUntil returns the time from now to at, both in Unix ms. 0 means never: the reply
// is -1.
func millisUntil(at, now int64) resp.Reply {
	if at == 0 {
		return resp.Int(-1)
	}
	return resp.Int(max(0, at-now))
}

// millisSince returns the time from at to now, both in Unix ms. 0 means unknown: the reply
// is -1.
func millisSince(at, now int64) resp.Reply {
	if at == 0 {
		return resp.Int(-1)
	}
	return resp.Int(max(0, now-at))
}
