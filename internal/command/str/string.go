package str

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

var (
	errOffsetRange   = resp.Error("ERR offset is out of range")
	errStringTooLong = resp.Error("ERR string exceeds maximum allowed size (proto-max-bulk-len)")
)

// stringReply is a string as a reply, nil if s is nil.
func stringReply(s *store.String) resp.Reply {
	if s == nil {
		return resp.Nil
	}
	if n, ok := s.Int(); ok && s.IsInt() {
		return resp.BulkInt(n)
	}
	return resp.Bulk(s.Bytes(nil))
}

func get(c *command.Ctx, args resp.Args) resp.Reply {
	s, ok := command.As[*store.String](c.DB.Lookup(args[1]))
	if !ok {
		return resp.ErrWrongType
	}
	return stringReply(s)
}

func mget(c *command.Ctx, args resp.Args) resp.Reply {
	values := make([]resp.Reply, len(args)-1)
	for i, key := range args[1:] {
		values[i] = resp.Nil
		if s, ok := command.As[*store.String](c.DB.Lookup(key)); ok {
			values[i] = stringReply(s)
		}
	}
	return resp.Array(values...)
}

func getdel(c *command.Ctx, args resp.Args) resp.Reply {
	e := c.DB.Lookup(args[1])
	s, ok := command.As[*store.String](e)
	switch {
	case !ok:
		return resp.ErrWrongType
	case s == nil:
		return resp.Nil
	}
	c.Delete(e, c.Space.Lazyfree.ServerDel, 1)
	return stringReply(s)
}

func getset(c *command.Ctx, args resp.Args) resp.Reply {
	s, ok := command.As[*store.String](c.DB.Lookup(args[1]))
	if !ok {
		return resp.ErrWrongType
	}
	storeString(c, args[1], args[2], false)
	return stringReply(s)
}

// storeString stores value under key as SET does, and says so. ifMissing says that the command
// asked for a missing key.
func storeString(c *command.Ctx, key, value []byte, ifMissing bool) {
	e := c.DB.Set(key, store.ParseString(value))
	c.Change(e, command.StringClass, "set", 1, c.Whole(value, ifMissing))
}

func mset(c *command.Ctx, args resp.Args) resp.Reply { return setAll(c, args, false) }

// setAll is MSET, and MSETNX if no key exists.
func setAll(c *command.Ctx, args resp.Args, ifMissing bool) resp.Reply {
	if len(args)%2 == 0 {
		return resp.ErrArity(c.Cmd.Name)
	}
	for i := 1; i < len(args); i += 2 {
		storeString(c, args[i], args[i+1], ifMissing)
	}
	return resp.OK
}

func msetnx(c *command.Ctx, args resp.Args) resp.Reply {
	if len(args)%2 == 0 {
		return resp.ErrArity(c.Cmd.Name)
	}
	for i := 1; i < len(args); i += 2 {
		if c.DB.LookupWrite(args[i]) != nil {
			return resp.Int(0)
		}
	}
	setAll(c, args, true)
	return resp.Int(1)
}

func strlen(c *command.Ctx, args resp.Args) resp.Reply {
	s, reply := command.Reading[*store.String](c, args[1], resp.Int(0))
	if s == nil {
		return reply
	}
	return resp.Int(int64(s.Len()))
}

func appendCmd(c *command.Ctx, args resp.Args) resp.Reply {
	e := c.DB.LookupWrite(args[1])
	s, ok := command.As[*store.String](e)
	if !ok {
		return resp.ErrWrongType
	}
	if s == nil {
		e = c.DB.Add(args[1], store.ParseString(args[2]))
		c.Change(e, command.StringClass, "append", 1)
		return resp.Int(int64(len(args[2])))
	}
	if stringTooLong(c, int64(s.Len()), int64(len(args[2]))) {
		return errStringTooLong
	}
	length := s.Append(args[2])
	c.Change(e, command.StringClass, "append", 1)
	return resp.Int(int64(length))
}

// stringTooLong reports whether a + b, a length in bytes, exceeds proto-max-bulk-len. That
// directive limits values as well as arguments.
func stringTooLong(c *command.Ctx, a, b int64) bool {
	return a > c.Config.ProtoMaxBulkLen.Load()-b
}

func setrange(c *command.Ctx, args resp.Args) resp.Reply {
	offset, isInt := resp.ParseInt(args[2])
	switch {
	case !isInt:
		return resp.ErrNotInt
	case offset < 0:
		return errOffsetRange
	}
	e := c.DB.LookupWrite(args[1])
	s, ok := command.As[*store.String](e)
	switch {
	case !ok:
		return resp.ErrWrongType
	case len(args[3]) == 0 && s == nil:
		return resp.Int(0)
	case len(args[3]) == 0:
		return resp.Int(int64(s.Len()))
	case stringTooLong(c, offset, int64(len(args[3]))):
		return errStringTooLong
	}
	if s == nil {
		s = store.NewZeros(int(offset) + len(args[3]))
		e = c.DB.Add(args[1], s)
	}
	length := s.Overwrite(int(offset), args[3])
	c.Change(e, command.StringClass, "setrange", 1)
	return resp.Int(int64(length))
}

func getrange(c *command.Ctx, args resp.Args) resp.Reply {
	start, end, ok := command.ParseRange(args[2], args[3])
	if !ok {
		return resp.ErrNotInt
	}
	s, reply := command.Reading[*store.String](c, args[1], resp.BulkString(""))
	if s == nil {
		return reply
	}
	text := s.Bytes(nil)
	from, to := byteRange(start, end, int64(len(text)))
	return resp.Bulk(text[from:to])
}

func substr(c *command.Ctx, args resp.Args) resp.Reply { return getrange(c, args) }

// byteRange converts the inclusive bounds of GETRANGE in a text of n bytes into [from, to).
// Negative bounds count from the end.
func byteRange(start, end, n int64) (from, to int64) {
	if start < 0 && end < 0 && start > end {
		return 0, 0
	}
	if start < 0 {
		start = max(start+n, 0)
	}
	if end < 0 {
		end = max(end+n, 0)
	}
	end = min(end, n-1)
	if start > end || n == 0 {
		return 0, 0
	}
	return start, end + 1
}
