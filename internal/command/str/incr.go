package str

import (
	"math"
	"math/big"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

var errDecrOverflow = resp.Error("ERR decrement would overflow")

func incr(c *command.Ctx, args resp.Args) resp.Reply { return increment(c, args[1], 1) }

func decr(c *command.Ctx, args resp.Args) resp.Reply { return increment(c, args[1], -1) }

func incrby(c *command.Ctx, args resp.Args) resp.Reply {
	by, ok := resp.ParseInt(args[2])
	if !ok {
		return resp.ErrNotInt
	}
	return increment(c, args[1], by)
}

func decrby(c *command.Ctx, args resp.Args) resp.Reply {
	by, ok := resp.ParseInt(args[2])
	switch {
	case !ok:
		return resp.ErrNotInt
	case by == math.MinInt64:
		return errDecrOverflow
	}
	return increment(c, args[1], -by)
}

// increment adds by to the integer under key.
func increment(c *command.Ctx, key []byte, by int64) resp.Reply {
	e := c.DB.LookupWrite(key)
	s, ok := command.As[*store.String](e)
	switch {
	case !ok:
		return resp.ErrWrongType
	case s == nil:
		e = c.DB.Add(key, store.NewInt(by))
		c.Change(e, command.StringClass, "incrby", 1)
		return resp.Int(by)
	}
	n, ok := s.Int()
	switch {
	case !ok:
		return resp.ErrNotInt
	case command.AddOverflows(n, by):
		return resp.ErrOverflow
	}
	s.SetInt(n + by)
	c.Change(e, command.StringClass, "incrby", 1)
	return resp.Int(n + by)
}

func incrbyfloat(c *command.Ctx, args resp.Args) resp.Reply {
	e := c.DB.LookupWrite(args[1])
	s, ok := command.As[*store.String](e)
	if !ok {
		return resp.ErrWrongType
	}
	n, ok := longDoubleOf(s)
	if !ok {
		return resp.ErrNotFloat
	}
	by, ok := command.ParseLongDouble(args[2])
	if !ok {
		return resp.ErrNotFloat
	}
	sum, ok := command.AddLongDouble(n, by)
	if !ok {
		return resp.ErrFloatNaNOrInf
	}
	text := command.FormatLongDouble(sum)
	if s == nil {
		e = c.DB.Add(args[1], store.NewText(text))
	} else {
		s.SetText(text)
	}
	c.Change(e, command.StringClass, "incrbyfloat", 1)
	return resp.Bulk(text)
}

// longDoubleOf parses the number in s. It is 0 if s is nil.
func longDoubleOf(s *store.String) (*big.Float, bool) {
	if s == nil {
		return new(big.Float), true
	}
	return command.ParseLongDouble(s.Bytes(nil))
}
