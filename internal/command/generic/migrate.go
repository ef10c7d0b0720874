package generic

import (
	"bytes"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

var (
	errMigrateKeys  = resp.Error("ERR When using MIGRATE KEYS option, the key argument must be set to the empty string")
	errMigrateBusy  = resp.Error("ERR MIGRATE is not allowed in scripts and transactions")
	errMigrateDial  = resp.Error("IOERR error or timeout connecting to the client")
	errMigrateWrite = resp.Error("IOERR error or timeout writing to target instance")
	errMigrateRead  = resp.Error("IOERR error or timeout reading to target instance")
)

// migration is a Migration with its keys.
type migration struct {
	command.Migration
	keys []migratedKey
	copy bool
}

// migratedKey is a key as it was when it was sent.
type migratedKey struct {
	name, payload []byte
	deadline      int64
}

// migrateOptions are the arguments of MIGRATE.
type migrateOptions struct {
	copy, replace  bool
	user, password []byte // nil: none
	keys           resp.Args
	db             int64
	timeout        int64
}

// migrate sends keys to another server and deletes them here, unless COPY is given. The
// client waits for the network, and so do clients that write these keys; others continue.
//
// Differs from Redis: there all clients wait. Here a key can change or go while it is under way, by
// a command that does not name it: FLUSHALL, or a script. A changed key stays, and the client gets
// an error.
func migrate(c *command.Ctx, args resp.Args) resp.Reply {
	o, failure := parseMigrate(c, args)
	if failure.IsError() {
		return failure
	}
	if c.DenyBlocking() {
		return errMigrateBusy
	}
	host, port := args.String(1), command.Atoi(args[2])
	m := &migration{copy: o.copy, Migration: command.Migration{
		Addr: net.JoinHostPort(host, strconv.Itoa(port&0xffff)), Timeout: o.timeout,
	}}
	for _, key := range o.keys {
		if e := c.DB.Lookup(key); e != nil {
			m.keys = append(m.keys, migratedKey{
				bytes.Clone(key), command.PayloadEncoder(c).Dump(e.Value()), c.DB.Deadline(e),
			})
		}
	}
	if len(m.keys) == 0 {
		return resp.Status("NOKEY")
	}
	if host == "" || host[0] == '[' || port < 0 { // Go would take the first for this machine
		return errMigrateDial
	}
	m.request(c, o)
	m.Finish = m.finish
	for i := 0; i < len(m.keys) && !m.copy; i++ {
		m.Moved = append(m.Moved, m.keys[i].name)
	}
	c.Migrating.Begin(c, &m.Migration)
	return resp.NoReply
}

func parseMigrate(c *command.Ctx, args resp.Args) (o migrateOptions, failure resp.Reply) {
	o.keys = args[3:4]
	var ok bool
	for i := 6; i < len(args); i++ {
		more := len(args) - i - 1
		switch {
		case command.IsWord(args[i], "copy"):
			o.copy = true
		case command.IsWord(args[i], "replace"):
			o.replace = true
		case command.IsWord(args[i], "auth"):
			if more < 1 {
				return o, resp.ErrSyntax
			}
			i++
			c.Hide(i)
			o.password = args[i]
		case command.IsWord(args[i], "auth2"):
			if more < 2 {
				return o, resp.ErrSyntax
			}
			c.Hide(i+1, i+2)
			o.user, o.password = args[i+1], args[i+2]
			i += 2
		case command.IsWord(args[i], "keys"):
			if len(args[3]) != 0 {
				return o, errMigrateKeys
			}
			o.keys = args[i+1:]
			i = len(args)
		default:
			return o, resp.ErrSyntax
		}
	}
	if o.timeout, ok = resp.ParseInt(args[5]); !ok {
		return o, resp.ErrNotInt
	}
	if o.db, ok = resp.ParseInt(args[4]); !ok {
		return o, resp.ErrNotInt
	}
	if o.timeout <= 0 {
		o.timeout = 1000
	}
	return o, resp.NoReply
}

// request makes the commands for the other server.
func (m *migration) request(c *command.Ctx, o migrateOptions) {
	add := func(words ...[]byte) {
		m.Request = append(strconv.AppendInt(append(m.Request, '*'), int64(len(words)), 10), "\r\n"...)
		for _, word := range words {
			m.Request = append(strconv.AppendInt(append(m.Request, '$'), int64(len(word)), 10), "\r\n"...)
			m.Request = append(append(m.Request, word...), "\r\n"...)
		}
		m.Replies++
	}
	switch {
	case o.user != nil:
		add([]byte("AUTH"), o.user, o.password)
	case o.password != nil:
		add([]byte("AUTH"), o.password)
	}
	add([]byte("SELECT"), command.Digits(o.db))
	m.Asked = m.Replies
	verb := []byte("RESTORE")
	if c.Cluster != nil {
		verb = []byte("RESTORE-ASKING")
	}
	for _, k := range m.keys {
		ttl := int64(0)
		if k.deadline != 0 {
			ttl = max(k.deadline-c.Now(), 1)
		}
		words := [][]byte{verb, k.name, command.Digits(ttl), k.payload}
		if o.replace {
			words = append(words, []byte("REPLACE"))
		}
		add(words...)
	}
}

// finish deletes the keys that the other server has, and returns the reply of MIGRATE. lines
// are the first lines of the replies that came.
func (m *migration) finish(c *command.Ctx, end command.Exchange, lines []string) resp.Reply {
	removed := map[string]bool{} // a key that is given twice is sent twice
	deleted := resp.Args{command.WordDel}
	changed := false
	for i, line := range lines {
		if i < m.Asked || isErrorLine(line) || m.copy || anyError(lines[:min(m.Asked, len(lines))]) {
			continue
		}
		k := m.keys[i-m.Asked]
		switch e := c.DB.Peek(k.name); {
		case e == nil && removed[string(k.name)]:
		case e == nil && k.deadline != 0 && k.deadline <= c.Now(): // it has expired on both servers
		case e != nil && c.DB.Deadline(e) == k.deadline &&
			bytes.Equal(command.PayloadEncoder(c).Dump(e.Value()), k.payload):
			c.Delete(e, c.Space.Lazyfree.ServerDel, 1)
			removed[string(k.name)] = true
			deleted = append(deleted, k.name)
		default:
			changed = true
		}
	}
	if len(deleted) > 1 {
		c.Tell(deleted...)
	}
	switch i := slices.IndexFunc(lines, isErrorLine); {
	case i >= 0:
		return resp.Error("ERR Target instance replied with error: " + lines[i][1:])
	case end == command.NotDialed:
		return errMigrateDial
	case end == command.NotWritten:
		return errMigrateWrite
	case end == command.NotRead:
		return errMigrateRead
	case changed:
		return errMigrateChanged
	}
	return resp.OK
}

// errMigrateChanged is the reply when the other server has a key that has another value here, or
// that is gone here: another client changed, deleted or moved it.
var errMigrateChanged = resp.Error("IOERR a key changed while it was sent: the target instance has it")

// anyError reports whether one of the replies is an error. If AUTH or SELECT fails, the keys are
// in another place than they should be.
func anyError(lines []string) bool { return slices.ContainsFunc(lines, isErrorLine) }

func isErrorLine(line string) bool { return strings.HasPrefix(line, "-") }

// migrateKeys finds the keys of MIGRATE: the third argument, or those after KEYS. It is the
// Refine of a spec that finds the third argument only.
func migrateKeys(line resp.Args, found []command.KeyPos) []command.KeyPos {
	for i := 6; i < len(line); i++ {
		switch {
		case command.IsWord(line[i], "auth"):
			i++
		case command.IsWord(line[i], "auth2"):
			i += 2
		case command.IsWord(line[i], "keys") && i+1 < len(line):
			if len(line[3]) > 0 {
				return nil // a syntax error
			}
			flags, keys := found[0].Flags, []command.KeyPos(nil)
			for i++; i < len(line); i++ {
				keys = append(keys, command.KeyPos{At: i, Flags: flags})
			}
			return keys
		}
	}
	return found
}

// noKeys drops what a spec has found: another spec's Refine finds these keys.
func noKeys(resp.Args, []command.KeyPos) []command.KeyPos { return nil }
