package stream

import (
	"bytes"
	"math"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

// Parsing of stream ids and of intervals of ids.

var (
	errStreamID      = resp.Error("ERR Invalid stream ID specified as stream command argument")
	errIntervalStart = resp.Error("ERR invalid start ID for the interval")
	errIntervalEnd   = resp.Error("ERR invalid end ID for the interval")
)

// idNoSeq is the sequence number of an id that is given as milliseconds alone: the least
// number at the begin of an interval, the greatest at its end.
const (
	idNoSeq    = 0
	idNoSeqEnd = math.MaxUint64
)

// longestID is the length of the longest id, in bytes. Redis copies an id to a buffer of
// that size.
const longestID = 127

// parseID parses an id: milliseconds, or milliseconds-sequence. noSeq is the sequence
// number of an id that has none.
func parseID(arg []byte, noSeq uint64) (id store.StreamID, ok bool) {
	id, _, ok = parseIDParts(arg, noSeq, false)
	return id, ok
}

// parseIDParts is parseID. If auto is set, the sequence number may be *: then seq is false.
func parseIDParts(arg []byte, noSeq uint64, auto bool) (id store.StreamID, seq, ok bool) {
	if len(arg) > longestID {
		return id, false, false
	}
	ms, rest, hasSeq := bytes.Cut(command.CText(arg), []byte{'-'})
	if id.MS, ok = parseUnsigned(ms); !ok {
		return id, false, false
	}
	switch {
	case !hasSeq:
		id.Seq = noSeq
		return id, true, true
	case auto && string(rest) == "*":
		return id, false, true
	}
	id.Seq, ok = parseUnsigned(rest)
	return id, true, ok
}

// parseAnyID is parseID that also accepts - for the least id and + for the greatest.
func parseAnyID(arg []byte, noSeq uint64) (id store.StreamID, ok bool) {
	switch string(command.CText(arg)) {
	case "-":
		return id, len(arg) <= longestID
	case "+":
		return store.MaxStreamID, len(arg) <= longestID
	}
	return parseID(arg, noSeq)
}

// parseInterval parses the bounds of an interval. A bound after ( is not part of it.
func parseInterval(first, last []byte) (from, to store.StreamID, failure resp.Reply) {
	if from, failure = parseIntervalStart(first); failure.IsError() {
		return from, to, failure
	}
	to, open, ok := parseBound(last, idNoSeqEnd)
	if !ok {
		return from, to, errStreamID
	}
	if open {
		if to, ok = to.Prev(); !ok {
			return from, to, errIntervalEnd
		}
	}
	return from, to, resp.NoReply
}

// parseIntervalStart parses the first bound of an interval.
func parseIntervalStart(arg []byte) (from store.StreamID, failure resp.Reply) {
	from, open, ok := parseBound(arg, idNoSeq)
	if !ok {
		return from, errStreamID
	}
	if open {
		if from, ok = from.Next(); !ok {
			return from, errIntervalStart
		}
	}
	return from, resp.NoReply
}

func parseBound(arg []byte, noSeq uint64) (id store.StreamID, open, ok bool) {
	if len(arg) > 1 && arg[0] == '(' {
		id, ok = parseID(arg[1:], noSeq)
		return id, true, ok
	}
	id, ok = parseAnyID(arg, noSeq)
	return id, false, ok
}

// parseUnsigned parses a number as Redis's string2ull does: as an integer, or else with C's
// strtoull, which allows white space, signs and leading zeros, and negates modulo 2^64.
func parseUnsigned(b []byte) (n uint64, ok bool) {
	if n, ok := resp.ParseInt(b); ok {
		return uint64(n), n >= 0
	}
	b = bytes.TrimLeft(b, " \t\n\v\f\r")
	negative := len(b) > 0 && b[0] == '-'
	if negative || len(b) > 0 && b[0] == '+' {
		b = b[1:]
	}
	for _, c := range b {
		digit := uint64(c - '0')
		if digit > 9 || n > (math.MaxUint64-digit)/10 {
			return 0, false
		}
		n = n*10 + digit
	}
	if negative {
		n = -n
	}
	return n, len(b) > 0
}

// parseIDs parses ids.
func parseIDs(args resp.Args) (ids []store.StreamID, ok bool) {
	ids = make([]store.StreamID, len(args))
	for i, arg := range args {
		if ids[i], ok = parseID(arg, idNoSeq); !ok {
			return nil, false
		}
	}
	return ids, true
}
