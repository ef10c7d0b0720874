package journal

import (
	"slices"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

// Telling turns the journal into the command lines that tell others what has changed: the stream
// that redis-server sends to its replicas. A line of a command that changed nothing is not told.
//
// The lines of a client's command travel together: between MULTI and EXEC if they are several. So
// does the end of a key that the command finds when the key's time is over. KEYS, SCAN and RANDOMKEY
// find any number of such keys, each is told alone.
type Telling struct {
	env    *command.Env
	stop   func() // ends the reading
	follow []*follower
	dirty  []int64 // Env.Dirty at the begin of the running commands, the outer ones first
	lines  []toldLine
	words  resp.Args // of the lines
	bytes  []byte    // of the words
}

// follower is told the lines.
type follower struct{ do func(db int, line resp.Args) }

// toldLine is a line about a database: some of Telling's words.
type toldLine struct{ db, from, to int }

// Follow calls do with each command line that tells of a change, and with the number of its
// database, until stop is called. MULTI is of the database of the line behind it. do must copy what
// it keeps. While there is a follower, t is a reader of j, and the Teller of env. A command that runs
// while the first follower comes is not told.
func (t *Telling) Follow(j *Journal, env *command.Env, do func(db int, line resp.Args)) (stop func()) {
	f := &follower{do}
	if t.follow = append(t.follow, f); len(t.follow) == 1 {
		t.env, env.Teller = env, t
		t.stop = j.Read(t.read, CommandBegins, CommandEnds, FieldsExpired, KeyExpired, KeyEvicted)
	}
	return func() {
		t.follow = slices.DeleteFunc(t.follow, func(other *follower) bool { return other == f })
		if len(t.follow) == 0 {
			env.Teller = nil
			t.dirty = t.dirty[:0]
			t.forget()
			t.stop()
		}
	}
}

// Tell is command.Teller's. It copies the line into memory that all lines of a unit share. When bytes
// grows, the earlier words stay in the old memory.
func (t *Telling) Tell(db int, line resp.Args) {
	from := len(t.words)
	for _, word := range line {
		at := len(t.bytes)
		t.bytes = append(t.bytes, word...)
		t.words = append(t.words, t.bytes[at:len(t.bytes):len(t.bytes)])
	}
	t.lines = append(t.lines, toldLine{db, from, len(t.words)})
}

func (t *Telling) read(entry *Entry) {
	switch entry.Kind {
	case CommandBegins:
		t.dirty = append(t.dirty, t.env.Dirty)
	case CommandEnds:
		last := len(t.dirty) - 1
		if last < 0 {
			return
		}
		changed := t.env.Dirty > t.dirty[last] // a save makes it less
		t.dirty = t.dirty[:last]
		t.commandEnds(entry, changed)
		if last == 0 {
			t.send(!entry.Ctx.Cmd.Has(command.ToldApart))
		}
	case FieldsExpired:
		line := resp.Args{command.WordHdel, []byte(entry.Key)}
		for _, field := range entry.Fields {
			line = append(line, []byte(field))
		}
		t.deleted(entry.DB, line)
	case KeyExpired:
		if entry.Fields != nil {
			return // HDEL has deleted the key
		}
		t.deleted(entry.DB, command.Deletion([]byte(entry.Key), t.env.Space.Lazyfree.Expire))
	case KeyEvicted:
		t.deleted(entry.DB, command.Deletion([]byte(entry.Key), t.env.Space.Lazyfree.Eviction))
	}
}

// commandEnds tells of a command. A parked command that is served has changed something, unless
// it failed: Redis does not count that. As in Redis, redis.set_repl stops neither what a command
// tells while it runs (XCLAIM) nor the end of keys.
func (t *Telling) commandEnds(entry *Entry, changed bool) {
	c, reply := entry.Ctx, entry.Reply
	told := c.Cmd.Has(command.AlwaysTold) ||
		c.From == command.FromWait && c.Cmd.Has(command.Write) && reply.Kind() != resp.None
	if c.Untold || !changed && (!told || reply.IsError()) {
		return
	}
	if c.Cmd.Told != nil {
		c.Cmd.Told(c, entry.Args, reply)
		return
	}
	c.Tell(entry.Args...)
}

// send tells the lines of a unit. If they are several and belong together, they are told in MULTI.
func (t *Telling) send(together bool) {
	several := together && len(t.lines) > 1
	for i, l := range t.lines {
		if i == 0 && several {
			t.tell(l.db, command.LineMulti)
		}
		t.tell(l.db, t.words[l.from:l.to])
		if i == len(t.lines)-1 && several {
			t.tell(l.db, command.LineExec)
		}
	}
	t.forget()
}

// forget removes all lines, and keeps a little of their memory.
func (t *Telling) forget() {
	t.lines, t.words, t.bytes = reused(t.lines), reused(t.words), reused(t.bytes)
}

// reused returns an empty slice of the same memory, or nil if that is large.
func reused[T any](s []T) []T {
	if cap(s) > mostReused {
		return nil
	}
	clear(s)
	return s[:0]
}

// mostReused is how long a list may be whose memory is used again.
const mostReused = 4096

// deleted tells that a key or fields were deleted, by the clock or for memory.
func (t *Telling) deleted(db int, line resp.Args) {
	t.Tell(db, line)
	if len(t.dirty) == 0 {
		t.send(true)
	}
}

func (t *Telling) tell(db int, line resp.Args) {
	for _, f := range t.follow {
		f.do(db, line)
	}
}
