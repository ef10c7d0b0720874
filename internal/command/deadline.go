package command

import (
	"math"

	"github.com/lockredis/lockredis/resp"
)

// ttlUnit is the unit and the start of a time to live.
type ttlUnit uint8

const (
	unitEX   ttlUnit = iota + 1 // seconds from now
	unitPX                      // milliseconds from now
	unitEXAT                    // Unix seconds
	unitPXAT                    // Unix milliseconds
)

func ttlUnitOf(opt []byte) ttlUnit {
	switch {
	case isWord(opt, "ex"):
		return unitEX
	case isWord(opt, "px"):
		return unitPX
	case isWord(opt, "exat"):
		return unitEXAT
	case isWord(opt, "pxat"):
		return unitPXAT
	}
	return 0
}

// millis returns the length of the unit in milliseconds.
func (u ttlUnit) millis() int64 {
	if u == unitEX || u == unitEXAT {
		return 1000
	}
	return 1
}

// base returns where the time to live starts, in Unix milliseconds.
func (u ttlUnit) base(c *Ctx) int64 {
	if u == unitEX || u == unitPX {
		return c.Now()
	}
	return 0
}

// deadlineOf converts a time to live of at least 1 into a deadline in Unix milliseconds.
func deadlineOf(c *Ctx, ttl []byte, unit ttlUnit) (at int64, failure resp.Reply) {
	return deadlineFrom(c, ttl, 1, unit.base(c), unit.millis())
}

// deadlineFrom converts an argument of at least least into the deadline base + argument·unit,
// all in milliseconds.
func deadlineFrom(c *Ctx, arg []byte, least, base, unit int64) (at int64, failure resp.Reply) {
	n, ok := resp.ParseInt(arg)
	if !ok {
		return 0, resp.ErrNotInt
	}
	if n < least || n > math.MaxInt64/unit || n*unit > math.MaxInt64-base {
		return 0, resp.ErrInvalidExpire(c.Cmd.Name)
	}
	return n*unit + base, resp.NoReply
}

var (
	errExpireNX   = resp.Error("ERR NX and XX, GT or LT options at the same time are not compatible")
	errExpireGTLT = resp.Error("ERR GT and LT options at the same time are not compatible")
)

// conditions are the options NX, XX, GT and LT.
type conditions struct{ nx, xx, gt, lt bool }

func expireConditions(options resp.Args) (cond conditions, failure resp.Reply) {
	for _, o := range options {
		switch {
		case isWord(o, "nx"):
			cond.nx = true
		case isWord(o, "xx"):
			cond.xx = true
		case isWord(o, "gt"):
			cond.gt = true
		case isWord(o, "lt"):
			cond.lt = true
		default:
			return cond, resp.Errorf("ERR Unsupported option %s", o)
		}
	}
	switch {
	case cond.nx && (cond.xx || cond.gt || cond.lt):
		return cond, errExpireNX
	case cond.gt && cond.lt:
		return cond, errExpireGTLT
	}
	return cond, resp.NoReply
}

// allow reports whether a key or a field may get the deadline at. has says whether it has
// the deadline old. Without one it compares as if its deadline were later than any other.
func (cond conditions) allow(has bool, old, at int64) bool {
	switch {
	case cond.nx && has, cond.xx && !has:
		return false
	case cond.gt && (!has || at <= old), cond.lt && has && at >= old:
		return false
	}
	return true
}

// seconds rounds ms to seconds. The largest ms does not overflow.
func seconds(ms int64) int64 { return int64((uint64(ms) + 500) / 1000) }
