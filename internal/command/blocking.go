package command

import (
	"math"
	"math/big"

	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

// The common part of the blocking commands of lists, sorted sets and streams. A blocking command
// answers at once if it can. Otherwise it parks its client with a function that serves it
// later.

var (
	errCountPositive   = resp.Error("ERR count should be greater than 0")
	errTimeoutNotFloat = resp.Error("ERR timeout is not a float or out of range")
	errTimeoutNotInt   = resp.Error("ERR timeout is not an integer or out of range")
	errTimeoutNegative = resp.Error("ERR timeout is negative")
)

// ParseTimeout reads the timeout of a blocking command, in seconds. It returns the
// deadline in Unix milliseconds; 0 means none.
func ParseTimeout(c *Ctx, arg []byte) (deadline int64, failure resp.Reply) {
	seconds, ok := ParseLongDouble(arg)
	switch {
	case !ok:
		return 0, errTimeoutNotFloat
	case seconds.IsInf():
		return 0, errTimeoutNegative
	}
	millis := new(big.Float).SetPrec(64).Mul(seconds, big.NewFloat(1000))
	wait, accuracy := millis.Int64()
	switch {
	case accuracy == big.Below && wait == math.MaxInt64:
		// Redis's cast overflows to the least integer.
		return 0, errTimeoutNegative
	case accuracy == big.Below:
		wait++
	}
	switch {
	case wait < 0:
		return 0, errTimeoutNegative
	case wait == 0:
		return 0, resp.NoReply
	case wait > math.MaxInt64-c.Now():
		return math.MaxInt64, resp.NoReply
	}
	return c.Now() + wait, resp.NoReply
}

// ParseTimeoutMillis reads the timeout of WAIT and CLIENT PAUSE, in milliseconds. Adding
// it to the time may overflow.
func ParseTimeoutMillis(arg []byte) (millis int64, failure resp.Reply) {
	millis, ok := resp.ParseInt(arg)
	switch {
	case !ok:
		return 0, errTimeoutNotInt
	case millis < 0:
		return 0, errTimeoutNegative
	}
	return millis, resp.NoReply
}

// ServeKey is a Parked.Serve or Parked.Missing.
type ServeKey func(c *Ctx, key []byte) (reply resp.Reply, served bool)

// Park makes the session wait for one of keys. At the deadline (0: none) the reply is the null
// array. missing may be nil.
func Park(c *Ctx, keys [][]byte, deadline int64, serve, missing ServeKey) resp.Reply {
	return ParkFor(c, &Parked{Keys: KeyNames(keys), Deadline: deadline, Serve: serve, Missing: missing})
}

// ParkFor makes the session wait as p says. At the deadline the reply is the null array.
func ParkFor(c *Ctx, p *Parked) resp.Reply {
	p.Session, p.Cmd, p.DB, p.OnTimeout = c.Session, c.Cmd, c.DB.ID(), resp.NilArray
	c.Parking.Park(p)
	return resp.NoReply
}

// KeyNames copies keys.
func KeyNames(keys [][]byte) []string {
	copies := make([]string, len(keys))
	for i, key := range keys {
		copies[i] = string(key)
	}
	return copies
}

// PopKey removes elements from a key's value, which is not empty, and returns the
// command's reply.
type PopKey[V store.Value] func(c *Ctx, key []byte, e *store.Entry, v V) resp.Reply

// PopOrPark pops from the first of keys that exists, or waits for one of them.
func PopOrPark[V store.Value](c *Ctx, keys [][]byte, deadline int64, pop PopKey[V]) resp.Reply {
	reply, done := PopFirst(c, keys, pop)
	if done || c.DenyBlocking() {
		return reply
	}
	return ParkPop(c, keys, deadline, pop)
}

// ParkPop parks the client until pop can be applied to one of keys.
func ParkPop[V store.Value](c *Ctx, keys [][]byte, deadline int64, pop PopKey[V]) resp.Reply {
	return Park(c, keys, deadline, func(c *Ctx, key []byte) (resp.Reply, bool) {
		e := c.DB.LookupWrite(key)
		v, ok := As[V](e)
		if !ok || e == nil {
			return resp.NoReply, false
		}
		return pop(c, key, e, v), true
	}, nil)
}

// PopFirst pops from the first of keys that exists. It returns the null array and false
// when none exists.
func PopFirst[V store.Value](c *Ctx, keys [][]byte, pop PopKey[V]) (reply resp.Reply, done bool) {
	for _, key := range keys {
		e := c.DB.LookupWrite(key)
		v, ok := As[V](e)
		switch {
		case !ok:
			return resp.ErrWrongType, true
		case e != nil:
			return pop(c, key, e, v), true
		}
	}
	return resp.NilArray, false
}

// multiPop holds the arguments of LMPOP, ZMPOP and their blocking forms.
type multiPop[End any] struct {
	keys  [][]byte
	end   End
	count int64
}

// PopMulti is LMPOP and ZMPOP. pop returns the PopKey for an end and a count. It is applied
// to the first key that exists.
func PopMulti[End any, V store.Value](
	c *Ctx, args resp.Args, parseEnd func([]byte) (End, bool), pop func(End, int64) PopKey[V],
) resp.Reply {
	m, failure := parseMultiPop(args, 1, parseEnd)
	if failure.IsError() {
		return failure
	}
	reply, _ := PopFirst(c, m.keys, pop(m.end, m.count))
	return reply
}

// PopMultiOrPark is BLMPOP and BZMPOP. Their first argument is a timeout.
func PopMultiOrPark[End any, V store.Value](
	c *Ctx, args resp.Args, parseEnd func([]byte) (End, bool), pop func(End, int64) PopKey[V],
) resp.Reply {
	m, failure := parseMultiPop(args, 2, parseEnd)
	if failure.IsError() {
		return failure
	}
	deadline, failure := ParseTimeout(c, args[1])
	if failure.IsError() {
		return failure
	}
	return PopOrPark(c, m.keys, deadline, pop(m.end, m.count))
}

// parseMultiPop reads numkeys, which is args[at], the keys, the end to pop from, and COUNT.
func parseMultiPop[End any](
	args resp.Args, at int, parseEnd func([]byte) (End, bool),
) (m multiPop[End], failure resp.Reply) {
	n, ok := resp.ParseInt(args[at])
	if !ok || n < 1 {
		return m, resp.ErrNumkeysZero
	}
	if n >= int64(len(args)-at-1) {
		return m, resp.ErrSyntax
	}
	where := at + 1 + int(n)
	m.keys = args[at+1 : where]
	if m.end, ok = parseEnd(args[where]); !ok {
		return m, resp.ErrSyntax
	}
	options := args[where+1:]
	switch {
	case len(options) == 0:
		m.count = 1
		return m, resp.NoReply
	case len(options) == 1 || !IsWord(options[0], "count"):
		return m, resp.ErrSyntax
	}
	if m.count, ok = resp.ParseInt(options[1]); !ok || m.count < 1 {
		return m, errCountPositive
	}
	if len(options) > 2 {
		return m, resp.ErrSyntax
	}
	return m, resp.NoReply
}
