package generic

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/glob"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

var (
	errNoLFU = resp.Error("ERR An LFU maxmemory policy is not selected, " +
		"access frequency not tracked. Please note that when switching between policies " +
		"at runtime LRU and LFU data will take some time to adjust.")
	errLFU = resp.Error("ERR An LFU maxmemory policy is selected, idle time not tracked. " +
		"Please note that when switching between policies at runtime LRU and LFU data will take " +
		"some time to adjust.")
	errSameObject = resp.Error("ERR source and destination objects are the same")
)

// peekAndCount looks up a key for a command that reads the key's properties, not its value
// (EXISTS, TTL, TYPE). It counts a hit or a miss, but does not update the access time.
func peekAndCount(c *command.Ctx, key []byte) *store.Entry {
	e := c.DB.Peek(key)
	if e != nil {
		c.Space.Stats.Hits++
		return e
	}
	c.DB.Missed(key)
	return nil
}

func del(c *command.Ctx, args resp.Args) resp.Reply {
	return deleteKeys(c, args, c.Config.Lazyfree.UserDel)
}

func unlink(c *command.Ctx, args resp.Args) resp.Reply { return deleteKeys(c, args, true) }

func deleteKeys(c *command.Ctx, args resp.Args, lazily bool) resp.Reply {
	n := int64(0)
	for _, key := range args[1:] {
		if e := c.DB.Peek(key); e != nil {
			c.Delete(e, lazily, 1)
			n++
		}
	}
	return resp.Int(n)
}

func exists(c *command.Ctx, args resp.Args) resp.Reply {
	n := int64(0)
	for _, key := range args[1:] {
		if peekAndCount(c, key) != nil {
			n++
		}
	}
	return resp.Int(n)
}

func touch(c *command.Ctx, args resp.Args) resp.Reply {
	// TOUCH counts in spite of CLIENT NO-TOUCH.
	quiet := c.Space.NoTouch
	c.Space.NoTouch = false
	defer func() { c.Space.NoTouch = quiet }()
	n := int64(0)
	for _, key := range args[1:] {
		if c.DB.Lookup(key) != nil {
			n++
		}
	}
	return resp.Int(n)
}

func typeCmd(c *command.Ctx, args resp.Args) resp.Reply {
	if e := peekAndCount(c, args[1]); e != nil {
		return resp.Status(string(e.Value().Type()))
	}
	return resp.Status("none")
}

func keysCmd(c *command.Ctx, args resp.Args) resp.Reply {
	pattern := args.String(1)
	var found []resp.Reply
	c.DB.Each(func(e *store.Entry) bool {
		if pattern == "*" || glob.Match(pattern, e.Key(), false) {
			found = append(found, resp.BulkString(e.Key()))
		}
		return true
	})
	return resp.Array(found...)
}

func randomkey(c *command.Ctx, _ resp.Args) resp.Reply {
	if e := c.DB.Random(c.Rand); e != nil {
		return resp.BulkString(e.Key())
	}
	return resp.Nil
}

func rename(c *command.Ctx, args resp.Args) resp.Reply {
	e := c.DB.LookupWrite(args[1])
	switch {
	case e == nil:
		return resp.ErrNoKey
	case string(args[1]) != string(args[2]):
		renameEntry(c, e, args[2])
	}
	return resp.OK
}

func renamenx(c *command.Ctx, args resp.Args) resp.Reply {
	e := c.DB.LookupWrite(args[1])
	if e == nil {
		return resp.ErrNoKey
	}
	if string(args[1]) == string(args[2]) || c.DB.LookupWrite(args[2]) != nil {
		return resp.Int(0)
	}
	renameEntry(c, e, args[2])
	return resp.Int(1)
}

// renameEntry moves e's value and deadline to another key.
func renameEntry(c *command.Ctx, e *store.Entry, to []byte) {
	v, deadline := e.Value(), c.DB.Deadline(e)
	c.Parking.Signal(c.DB.ID(), string(to)) // Redis serves clients that wait for the new key first,
	c.DB.RemoveLazily(e, false)             // then those that lose the stream of the old key
	moved := replace(c, c.DB, to, v, deadline)
	moved.KeepAccessed(e)
	c.Moved(e, "rename_from", c.DB, moved, "rename_to")
}

// setWithDeadline stores v under key with a deadline in Unix ms, 0 for none.
func setWithDeadline(db *store.DB, key []byte, v store.Value, deadline int64) *store.Entry {
	e := db.Set(key, v)
	if deadline != 0 {
		db.SetDeadline(e, deadline)
	}
	return e
}

// replace is setWithDeadline for a key that can exist. An existing key is announced as a
// new key, as in Redis. Its entry stays in the database, so that no SCAN misses the key.
func replace(c *command.Ctx, db *store.DB, key []byte, v store.Value, deadline int64) *store.Entry {
	existed := db.Peek(key) != nil
	e := setWithDeadline(db, key, v, deadline)
	if existed {
		db.Renewed(e)
	}
	return e
}

func move(c *command.Ctx, args resp.Args) resp.Reply {
	if c.Cluster != nil {
		return errClusterMove
	}
	to, failure := command.ParseDB(c, args[2])
	if to == nil {
		return failure
	}
	if to == c.DB {
		return errSameObject
	}
	e := c.DB.LookupWrite(args[1])
	if e == nil || to.LookupWrite(args[1]) != nil {
		return resp.Int(0)
	}
	moved := setWithDeadline(to, args[1], e.Value(), c.DB.Deadline(e))
	moved.KeepAccessed(e)
	c.DB.RemoveLazily(e, false)
	c.Moved(e, "move_from", to, moved, "move_to")
	return resp.Int(1)
}

func copyCmd(c *command.Ctx, args resp.Args) resp.Reply {
	to, mayReplace := c.DB, false
	for i := 3; i < len(args); i++ {
		switch {
		case command.IsWord(args[i], "replace"):
			mayReplace = true
		case command.IsWord(args[i], "db") && i+1 < len(args):
			i++
			var failure resp.Reply
			if to, failure = command.ParseDB(c, args[i]); to == nil {
				return failure
			}
		default:
			return resp.ErrSyntax
		}
	}
	if c.Cluster != nil && to != c.DB {
		return errClusterCopy
	}
	if to == c.DB && string(args[1]) == string(args[2]) {
		return errSameObject
	}
	e := c.DB.Lookup(args[1])
	if e == nil {
		return resp.Int(0)
	}
	if !mayReplace && to.LookupWrite(args[2]) != nil {
		return resp.Int(0)
	}
	copied := replace(c, to, args[2], e.Value().Clone(), c.DB.Deadline(e))
	c.ChangeIn(to, copied, command.Generic, "copy_to", 1)
	return resp.Int(1)
}

// objectOf looks up a key for OBJECT. It counts a hit or a miss, and announces neither.
func objectOf(c *command.Ctx, key []byte) *store.Entry {
	e := c.DB.Peek(key)
	if e != nil {
		c.Space.Stats.Hits++
	} else {
		c.Space.Stats.Misses++
	}
	return e
}

func objectEncoding(c *command.Ctx, args resp.Args) resp.Reply {
	if e := objectOf(c, args[2]); e != nil {
		return resp.BulkString(e.Value().Encoding())
	}
	return resp.Nil
}

func objectFreq(c *command.Ctx, args resp.Args) resp.Reply {
	e := objectOf(c, args[2])
	switch {
	case e == nil:
		return resp.Nil
	case !c.Space.Frequencies.On:
		return errNoLFU
	}
	return resp.Int(c.Space.Frequency(e))
}

func objectIdletime(c *command.Ctx, args resp.Args) resp.Reply {
	e := objectOf(c, args[2])
	switch {
	case e == nil:
		return resp.Nil
	case c.Space.Frequencies.On:
		return errLFU
	}
	return resp.Int(c.Space.Idle(e))
}

func objectRefcount(c *command.Ctx, args resp.Args) resp.Reply {
	e := objectOf(c, args[2])
	if e == nil {
		return resp.Nil
	}
	return resp.Int(command.RefCount(c, e.Value()))
}

var (
	errClusterMove = resp.Error("ERR MOVE is not allowed in cluster mode")
	errClusterCopy = resp.Error("ERR Copying to another database is not allowed in cluster mode")
)
