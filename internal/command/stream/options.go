package stream

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

// The options of XADD and XTRIM.

var (
	errTrimTwice = resp.Error("ERR syntax error, MAXLEN and MINID options at the same time are " +
		"not compatible")
	errMaxlenBelowZero = resp.Error("ERR The MAXLEN argument must be >= 0.")
	errLimitBelowZero  = resp.Error("ERR The LIMIT argument must be >= 0.")
	errLimitNoTrim     = resp.Error("ERR syntax error, LIMIT cannot be used without specifying a " +
		"trimming strategy")
	errLimitExact = resp.Error("ERR syntax error, LIMIT cannot be used without the special ~ option")
	errXtrimNone  = resp.Error("ERR syntax error, XTRIM must be called with a trimming strategy")
)

// trimOptions are MAXLEN or MINID, and LIMIT.
type trimOptions struct {
	trims      bool // MAXLEN or MINID was given
	limitGiven bool
	trim       store.StreamTrim
}

// xaddOptions are the options of XADD and its id.
type xaddOptions struct {
	trimOptions
	noMake   bool // NOMKSTREAM
	idGiven  bool // false: *
	seqGiven bool // false: * or ms-*
	id       store.StreamID
	next     int // the position of the id
}

func parseXtrim(c *command.Ctx, args resp.Args) (o trimOptions, failure resp.Reply) {
	for i := 2; i < len(args); {
		known := false
		if i, known, failure = o.parse(args, i); failure.IsError() {
			return o, failure
		}
		if !known {
			return o, resp.ErrSyntax
		}
	}
	if failure = o.limit(); failure.IsError() {
		return o, failure
	}
	if !o.trims {
		return o, errXtrimNone
	}
	return o, o.limitOfWhole(c)
}

func parseXadd(c *command.Ctx, args resp.Args) (o xaddOptions, failure resp.Reply) {
	for o.next = 2; o.next < len(args); {
		if string(args[o.next]) == "*" {
			break
		}
		known := false
		if o.next, known, failure = o.parse(args, o.next); failure.IsError() {
			return o, failure
		}
		switch {
		case known:
			continue
		case command.IsWord(args[o.next], "nomkstream"):
			o.noMake = true
			o.next++
			continue
		}
		var ok bool
		if o.id, o.seqGiven, ok = parseIDParts(args[o.next], idNoSeq, true); !ok {
			return o, errStreamID
		}
		o.idGiven = true
		break
	}
	if failure = o.limit(); failure.IsError() {
		return o, failure
	}
	return o, o.limitOfWhole(c)
}

// parse parses the option at args[i] and returns the position behind it. known is false if
// it is none of MAXLEN, MINID and LIMIT.
func (o *trimOptions) parse(
	args resp.Args, i int,
) (next int, known bool, failure resp.Reply) {
	if i+1 == len(args) {
		return i, false, resp.NoReply
	}
	switch {
	case command.IsWord(args[i], "maxlen"), command.IsWord(args[i], "minid"):
		next, failure = o.parseTrim(args, i)
		return next, true, failure
	case command.IsWord(args[i], "limit"):
		n, ok := resp.ParseInt(args[i+1])
		switch {
		case !ok:
			return i, true, resp.ErrNotInt
		case n < 0:
			return i, true, errLimitBelowZero
		}
		o.trim.Limit, o.limitGiven = n, true
		return i + 2, true, resp.NoReply
	}
	return i, false, resp.NoReply
}

// parseTrim parses MAXLEN or MINID at args[i].
func (o *trimOptions) parseTrim(args resp.Args, i int) (next int, failure resp.Reply) {
	if o.trims {
		return i, errTrimTwice
	}
	o.trims, o.trim.ByID = true, command.IsWord(args[i], "minid")
	i++
	if i+1 < len(args) {
		switch {
		case command.IsWord(args[i], "~"):
			o.trim.Whole = true
			i++
		case command.IsWord(args[i], "="):
			i++
		}
	}
	var ok bool
	if o.trim.ByID {
		if o.trim.MinID, ok = parseID(args[i], idNoSeq); !ok {
			return i, errStreamID
		}
		return i + 1, resp.NoReply
	}
	if o.trim.MaxLen, ok = resp.ParseInt(args[i]); !ok {
		return i, resp.ErrNotInt
	}
	if o.trim.MaxLen < 0 {
		return i, errMaxlenBelowZero
	}
	return i + 1, resp.NoReply
}

// limit checks that LIMIT comes with MAXLEN or MINID.
func (o *trimOptions) limit() resp.Reply {
	if o.trim.Limit > 0 && !o.trims {
		return errLimitNoTrim
	}
	return resp.NoReply
}

// limitOfWhole checks that LIMIT comes with ~. Without LIMIT, ~ removes the entries of a
// hundred chunks at most.
func (o *trimOptions) limitOfWhole(c *command.Ctx) resp.Reply {
	const chunks, usual, most = 100, 10_000, 1_000_000
	switch {
	case o.limitGiven && !o.trim.Whole:
		return errLimitExact
	case !o.limitGiven && o.trim.Whole:
		o.trim.Limit = chunks * c.Space.Limits.StreamNodeEntries // an overflow is meant as in C
		if o.trim.Limit <= 0 {
			o.trim.Limit = usual
		}
		o.trim.Limit = min(o.trim.Limit, most)
	}
	return resp.NoReply
}
