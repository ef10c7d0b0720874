package hash

import (
	"strconv"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

func hincrby(c *command.Ctx, args resp.Args) resp.Reply {
	by, ok := resp.ParseInt(args[3])
	if !ok {
		return resp.ErrNotInt
	}
	h, ok := writeHash(c, args[1])
	if !ok {
		return resp.ErrWrongType
	}
	n, added := int64(0), int64(1)
	if value, has := h.Get(args[2]); has {
		added = 0
		if n, ok = resp.ParseInt(value); !ok {
			return errHashNotInt
		}
	}
	if command.AddOverflows(n, by) {
		return resp.ErrOverflow
	}
	var digits [20]byte
	h.SetKeepDeadline(args[2], strconv.AppendInt(digits[:0], n+by, 10), &c.Space.Limits)
	var came command.Elems
	if added > 0 || by > 0 { // a count that falls is no acquisition
		came = command.Came(args[2:3], 1, added)
	}
	h.done(c, args[1], "hincrby", 1, came)
	return resp.Int(n + by)
}

func hincrbyfloat(c *command.Ctx, args resp.Args) resp.Reply {
	by, ok := command.ParseLongDouble(args[3])
	switch {
	case !ok:
		return resp.ErrNotFloat
	case by.IsInf():
		return errIncrNaNOrInf
	}
	h, ok := writeHash(c, args[1])
	if !ok {
		return resp.ErrWrongType
	}
	sum, added := by, int64(1)
	if value, has := h.Get(args[2]); has {
		added = 0
		n, ok := command.ParseLongDouble(value)
		if !ok {
			return errHashNotFloat
		}
		if sum, ok = command.AddLongDouble(n, by); !ok {
			return resp.ErrFloatNaNOrInf
		}
	}
	text := command.FormatLongDouble(sum)
	h.SetKeepDeadline(args[2], text, &c.Space.Limits)
	h.done(c, args[1], "hincrbyfloat", 1, command.Came(args[2:3], 1, added))
	return resp.Bulk(text)
}
