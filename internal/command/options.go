package command

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/lockredis/lockredis/internal/glob"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
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

// ScanOptions are the options of SCAN, HSCAN, SSCAN and ZSCAN.
type ScanOptions struct {
	Count   int
	pattern string
	match   bool // apply pattern
	Typed   bool // apply wanted: TYPE, which only SCAN has
	wanted  store.Type
}

// ParseScanOptions parses COUNT, MATCH and, if allowType is set, TYPE.
func ParseScanOptions(args resp.Args, allowType bool) (o ScanOptions, failure resp.Reply) {
	o.Count = 10
	for i := 0; i < len(args); i += 2 {
		if i+1 == len(args) {
			return o, resp.ErrSyntax
		}
		switch {
		case IsWord(args[i], "count"):
			n, ok := resp.ParseInt(args[i+1])
			switch {
			case !ok:
				return o, resp.ErrNotInt
			case n < 1:
				return o, resp.ErrSyntax
			}
			o.Count = int(n)
		case IsWord(args[i], "match"):
			o.pattern = args.String(i + 1)
			o.match = o.pattern != "*"
		case allowType && IsWord(args[i], "type"):
			o.Typed = true
			o.wanted = store.Type(strings.ToLower(string(CText(args[i+1]))))
		default:
			return o, resp.ErrSyntax
		}
	}
	return o, resp.NoReply
}

// Wants reports whether a key or an element matches MATCH.
func (o *ScanOptions) Wants(s string) bool {
	return !o.match || glob.Match(o.pattern, s, false)
}

// WantsType reports whether a value has the type of TYPE.
func (o *ScanOptions) WantsType(v store.Value) bool {
	return !o.Typed || v.Type() == o.wanted
}

// ParseCursor parses a cursor as C's strtoul does: a sign is allowed, and - negates modulo
// 2^64. As in Redis, leading white space is refused.
func ParseCursor(b []byte) (cursor uint64, ok bool) {
	b = CText(b)
	if len(b) == 0 {
		return 0, true
	}
	digits := b
	if b[0] == '-' || b[0] == '+' {
		digits = b[1:]
	}
	n, err := strconv.ParseUint(string(digits), 10, 64)
	if err != nil {
		return 0, false
	}
	if b[0] == '-' {
		n = -n
	}
	return n, true
}

// ScanReply is the reply of the SCAN family.
func ScanReply(cursor uint64, elems []resp.Reply) resp.Reply {
	next := "0"
	if cursor != 0 {
		next = strconv.FormatUint(cursor, 10)
	}
	return resp.Array(resp.BulkString(next), resp.Array(elems...))
}

// Code that SRANDMEMBER, HRANDFIELD and ZRANDMEMBER share.

var (
	errCountRange = resp.Error("ERR value is out of range, " +
		"value must between -9223372036854775807 and 9223372036854775807")
	errCountTooLarge = resp.Error("ERR value is out of range")
	ErrTooManyPicks  = resp.Error("ERR value is out of range, " +
		"a negative count must be between -1048576 and -1")
)

// MaxRandomPicks limits the reply to a negative count, which can be longer than the value.
//
// Differs from Redis: Redis has no limit and can run out of memory.
const MaxRandomPicks = 1 << 20

// ParseRandomCount parses the count of SRANDMEMBER, HRANDFIELD and ZRANDMEMBER.
func ParseRandomCount(arg []byte) (n int64, failure resp.Reply) {
	n, ok := resp.ParseInt(arg)
	switch {
	case !ok:
		return 0, resp.ErrNotInt
	case n == math.MinInt64:
		return 0, errCountRange
	}
	return n, resp.NoReply
}

// ParseRandomOptions parses the arguments of HRANDFIELD and ZRANDMEMBER from args[2] on: the
// count and the option withOption (WITHVALUES or WITHSCORES). paired tells whether the option
// is there.
func ParseRandomOptions(
	args resp.Args, withOption string,
) (count int64, paired bool, failure resp.Reply) {
	count, failure = ParseRandomCount(args[2])
	if failure.IsError() {
		return 0, false, failure
	}
	paired = len(args) == 4 && IsWord(args[3], withOption)
	switch {
	case len(args) > 3 && !paired:
		return 0, false, resp.ErrSyntax
	case paired && (count < -math.MaxInt64/2 || count > math.MaxInt64/2):
		return 0, false, errCountTooLarge
	}
	return count, paired, resp.NoReply
}

// RandomPicks returns the positions that count selects among size elements. A negative count
// selects -count random positions, which can repeat. Any other count selects that many
// different positions, or all of them in order if there are not more. size must not be 0.
func RandomPicks(rnd *rand.Rand, size int, count int64) []int {
	if count < 0 {
		picks := make([]int, -count)
		for i := range picks {
			picks[i] = rnd.IntN(size)
		}
		return picks
	}
	if count >= int64(size) {
		picks := make([]int, size)
		for i := range picks {
			picks[i] = i
		}
		return picks
	}
	return distinctPicks(rnd, size, int(count))
}

// distinctPicks returns n different numbers below size in random order. n must be less than
// size. It shuffles the numbers below size and stops after n of them. moved holds only the
// positions whose number has changed.
func distinctPicks(rnd *rand.Rand, size, n int) []int {
	picks := make([]int, n)
	moved := make(map[int]int, n)
	for i := range picks {
		j := i + rnd.IntN(size-i)
		at := func(k int) int {
			if v, ok := moved[k]; ok {
				return v
			}
			return k
		}
		picks[i] = at(j)
		moved[j] = at(i)
	}
	return picks
}
