package command

import (
	"math"

	"github.com/lockredis/lockredis/resp"
)

// TTLUnit is the unit and the start of a time to live.
type TTLUnit uint8

// The units, under the names of their options.
const (
	UnitEX   TTLUnit = iota + 1 // seconds from now
	UnitPX                      // milliseconds from now
	UnitEXAT                    // Unix seconds
	UnitPXAT                    // Unix milliseconds
)

// TTLUnitOf returns the unit that an option names (EX, PX, EXAT, PXAT), 0 if it names none.
func TTLUnitOf(opt []byte) TTLUnit {
	switch {
	case IsWord(opt, "ex"):
		return UnitEX
	case IsWord(opt, "px"):
		return UnitPX
	case IsWord(opt, "exat"):
		return UnitEXAT
	case IsWord(opt, "pxat"):
		return UnitPXAT
	}
	return 0
}

// Millis returns the length of the unit in milliseconds.
func (u TTLUnit) Millis() int64 {
	if u == UnitEX || u == UnitEXAT {
		return 1000
	}
	return 1
}

// Base returns where the time to live starts, in Unix milliseconds.
func (u TTLUnit) Base(c *Ctx) int64 {
	if u == UnitEX || u == UnitPX {
		return c.Now()
	}
	return 0
}

// DeadlineOf converts a time to live of at least 1 into a deadline in Unix milliseconds.
func DeadlineOf(c *Ctx, ttl []byte, unit TTLUnit) (at int64, failure resp.Reply) {
	return DeadlineFrom(c, ttl, 1, unit.Base(c), unit.Millis())
}

// DeadlineFrom converts an argument of at least least into the deadline base + argument·unit,
// all in milliseconds.
func DeadlineFrom(c *Ctx, arg []byte, least, base, unit int64) (at int64, failure resp.Reply) {
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

// Conditions are the options NX, XX, GT and LT.
type Conditions struct{ nx, xx, gt, lt bool }

// ParseConditions parses the options of EXPIRE and HEXPIRE.
func ParseConditions(options resp.Args) (cond Conditions, failure resp.Reply) {
	for _, o := range options {
		switch {
		case IsWord(o, "nx"):
			cond.nx = true
		case IsWord(o, "xx"):
			cond.xx = true
		case IsWord(o, "gt"):
			cond.gt = true
		case IsWord(o, "lt"):
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

// Allow reports whether a key or a field may get the deadline at. has says whether it has
// the deadline old. Without one it compares as if its deadline were later than any other.
func (cond Conditions) Allow(has bool, old, at int64) bool {
	switch {
	case cond.nx && has, cond.xx && !has:
		return false
	case cond.gt && (!has || at <= old), cond.lt && has && at >= old:
		return false
	}
	return true
}

// Seconds rounds ms to seconds. The largest ms does not overflow.
func Seconds(ms int64) int64 { return int64((uint64(ms) + 500) / 1000) }
