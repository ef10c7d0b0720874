package resp

import (
	"math"
	"strconv"
	"unsafe"
)

// Args is one command as it arrived: Args[0] is the command's name in the
// client's spelling. The slices alias the reader's buffer (or a script's
// arguments) and are valid until the handler returns; the store copies what it
// keeps.
type Args [][]byte

// String returns argument i as a string of its own.
func (a Args) String(i int) string { return string(a[i]) }

// Kind says which RESP type a Reply is. Types that only RESP3 has are written
// to RESP2 clients in the form that Redis 7.0 gives them there.
type Kind uint8

// The kinds of reply. None, the zero value, writes nothing: the command was
// parked (BLPOP) or its client asked for silence (CLIENT REPLY OFF).
const (
	None          Kind = iota
	KindNil            // $-1, RESP3 _
	KindNilArray       // *-1, RESP3 _
	KindInt            // :
	KindStatus         // +
	KindError          // -
	KindBulk           // $
	KindArray          // *
	KindMap            // %, RESP2 an array of keys and values in turn
	KindSet            // ~, RESP2 an array
	KindPush           // >, RESP2 an array
	KindDouble         // , with 17 significant digits, RESP2 a bulk string
	KindBool           // #, RESP2 an integer
	KindVerbatim       // =txt:, RESP2 a bulk string
	KindBigNumber      // (, RESP2 a bulk string
	KindRaw            // bytes that are encoded already
	KindSequence       // several replies in a row (SUBSCRIBE a b)
)

// Reply is the value a command answers with. RESP2, RESP3, EXEC and Lua all
// take the same value, so a script sees a reply without a serialised detour.
//
// A Reply is small and passed by value; scalar replies allocate nothing. Its
// bytes may alias the store or the command's arguments: it is valid until the
// engine's lock is released or the next command of the same unit runs.
type Reply struct {
	kind  Kind
	n     int64 // KindInt, KindBool; the bits of KindDouble
	s     string
	elems []Reply
}

// OK is the status reply +OK.
var OK = Status("OK")

// Queued is the status reply of a command inside MULTI.
var Queued = Status("QUEUED")

// NoReply writes nothing.
var NoReply = Reply{}

// Nil is the null bulk string.
var Nil = Reply{kind: KindNil}

// NilArray is the null array: $-1's sibling *-1 in RESP2, the same _ in RESP3.
var NilArray = Reply{kind: KindNilArray}

// EmptyArray is an array of no elements.
var EmptyArray = Reply{kind: KindArray}

// Int returns an integer reply.
func Int(n int64) Reply { return Reply{kind: KindInt, n: n} }

// Flag returns the integer 1 for true and 0 for false, Redis's usual answer to
// a yes-or-no command.
func Flag(b bool) Reply {
	if b {
		return Int(1)
	}
	return Int(0)
}

// Bool returns a RESP3 boolean (an integer in RESP2).
func Bool(b bool) Reply {
	r := Reply{kind: KindBool}
	if b {
		r.n = 1
	}
	return r
}

// Double returns a floating-point reply.
func Double(f float64) Reply {
	return Reply{kind: KindDouble, n: int64(math.Float64bits(f))}
}

// Status returns a simple string. Line breaks in s are written as spaces.
func Status(s string) Reply { return Reply{kind: KindStatus, s: s} }

// Error returns an error reply. The text starts with its class ("ERR …",
// "WRONGTYPE …"); line breaks are written as spaces.
func Error(s string) Reply { return Reply{kind: KindError, s: s} }

// Bulk returns a bulk string that aliases b. A nil b is the empty string, not
// the null reply.
func Bulk(b []byte) Reply {
	return Reply{kind: KindBulk, s: unsafe.String(unsafe.SliceData(b), len(b))}
}

// BulkString returns a bulk string.
func BulkString(s string) Reply { return Reply{kind: KindBulk, s: s} }

// BulkInt returns the decimal digits of n as a bulk string.
func BulkInt(n int64) Reply { return BulkString(strconv.FormatInt(n, 10)) }

// Verbatim returns a verbatim string of format txt, as INFO and LOLWUT answer.
func Verbatim(s string) Reply { return Reply{kind: KindVerbatim, s: s} }

// VerbatimAs returns a verbatim string whose format is not txt: three bytes,
// of which longer ones are cut and shorter ones filled with spaces.
func VerbatimAs(format, s string) Reply {
	r := Verbatim(s)
	for i := range 3 {
		c := byte(' ')
		if i < len(format) {
			c = format[i]
		}
		r.n = r.n<<8 | int64(c)
	}
	return r
}

// BigNumber returns a RESP3 big number; digits are not checked.
func BigNumber(digits string) Reply { return Reply{kind: KindBigNumber, s: digits} }

// Raw returns a reply that is encoded already, in the protocol version of the
// client that gets it.
func Raw(encoded []byte) Reply {
	r := Bulk(encoded)
	r.kind = KindRaw
	return r
}

// Array returns an array reply that keeps elems. A nil elems is the empty
// array.
func Array(elems ...Reply) Reply { return Reply{kind: KindArray, elems: elems} }

// Map returns a map reply: keys and values in turn.
func Map(pairs ...Reply) Reply { return Reply{kind: KindMap, elems: pairs} }

// Set returns a set reply.
func Set(elems ...Reply) Reply { return Reply{kind: KindSet, elems: elems} }

// Push returns an out-of-band message.
func Push(elems ...Reply) Reply { return Reply{kind: KindPush, elems: elems} }

// Sequence returns several replies to one command, one after the other.
func Sequence(replies ...Reply) Reply { return Reply{kind: KindSequence, elems: replies} }

// BulkArray returns an array of bulk strings.
func BulkArray(items []string) Reply {
	elems := make([]Reply, len(items))
	for i, s := range items {
		elems[i] = BulkString(s)
	}
	return Array(elems...)
}

// Kind returns the reply's type.
func (r Reply) Kind() Kind { return r.kind }

// IsError reports whether the reply is an error.
func (r Reply) IsError() bool { return r.kind == KindError }

// IsNil reports whether the reply is the null bulk or the null array.
func (r Reply) IsNil() bool { return r.kind == KindNil || r.kind == KindNilArray }

// Int returns the value of an integer or boolean reply, 0 for other kinds.
func (r Reply) Int() int64 {
	if r.kind == KindInt || r.kind == KindBool {
		return r.n
	}
	return 0
}

// Double returns the value of a double reply, 0 for other kinds.
func (r Reply) Double() float64 {
	if r.kind != KindDouble {
		return 0
	}
	return math.Float64frombits(uint64(r.n))
}

// Text returns the text of a status, error, bulk, verbatim or big-number
// reply, "" for other kinds. It may alias the store, as the Reply does.
func (r Reply) Text() string { return r.s }

// Elems returns the elements of an aggregate: for a map, keys and values in
// turn. It is nil for other kinds.
func (r Reply) Elems() []Reply { return r.elems }

// ArrayHeader returns the beginning of an array whose n elements are sent as
// replies of their own.
func ArrayHeader(n int) Reply { return Reply{kind: KindRaw, s: "*" + strconv.Itoa(n) + "\r\n"} }
