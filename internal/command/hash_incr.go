package command

import "github.com/lockredis/lockredis/resp"

func hincrby(c *Ctx, args resp.Args) resp.Reply {
	by, ok := resp.ParseInt(args[3])
	if !ok {
		return resp.ErrNotInt
	}
	h, ok := writeHash(c, args[1])
	if !ok {
		return resp.ErrWrongType
	}
	n := int64(0)
	if value, has := h.Get(args[2]); has {
		if n, ok = resp.ParseInt(value); !ok {
			return errHashNotInt
		}
	}
	if addOverflows(n, by) {
		return resp.ErrOverflow
	}
	h.SetInt(args[2], n+by, &c.Space.Limits)
	h.done(c, args[1], "hincrby")
	return resp.Int(n + by)
}

func hincrbyfloat(c *Ctx, args resp.Args) resp.Reply {
	by, ok := parseLongDouble(args[3])
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
	sum := by
	if value, has := h.Get(args[2]); has {
		n, ok := parseLongDouble(value)
		if !ok {
			return errHashNotFloat
		}
		if sum, ok = addLongDouble(n, by); !ok {
			return resp.ErrFloatNaNOrInf
		}
	}
	text := formatLongDouble(sum)
	h.SetKeepDeadline(args[2], text, &c.Space.Limits)
	h.done(c, args[1], "hincrbyfloat")
	return resp.Bulk(text)
}
