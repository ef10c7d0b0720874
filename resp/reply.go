package resp

import (
	"math"
	"strconv"
	"unsafe"
)

// Args is one command. Args[0] is the command's name as the client spelled it. The
// slices alias the Reader's buffer, or the arguments of a script, and are valid
// until the handler returns. The store copies what it keeps.
type Args [][]byte

// String returns a copy of argument i.
func (a Args) String(i int) string { return string(a[i]) }

// Bytes returns the length of all arguments together.
func (a Args) Bytes() (n int) {
	for _, arg := range a {
		n += len(arg)
	}
	return n
}

// Clone returns a copy whose arguments share one block of memory.
func (a Args) Clone() Args {
	room, copied := make([]byte, 0, a.Bytes()), make(Args, len(a))
	for i, arg := range a {
		from := len(room)
		room = append(room, arg...)
		copied[i] = room[from:len(room):len(room)]
	}
	return copied
}

// Kind is the RESP type of a Reply. RESP2 clients get the types that only RESP3
// has in the form that Redis 7.0 gives them in RESP2.
type Kind uint8

// The kinds of reply. None, the zero value, writes nothing: the command was parked
// (BLPOP), or the client has turned replies off (CLIENT REPLY OFF).
const (
	None          Kind = iota
	KindNil            // $-1, RESP3 _
	KindNilArray       // *-1, RESP3 _
	KindInt            // :
	KindStatus         // +
	KindError          // -
	KindBulk           // $
	KindArray          // *
	KindMap            // %, RESP2 an array: key, value, key, value
	KindSet            // ~, RESP2 an array
	KindPush           // >, RESP2 an array
	KindDouble         // , with 17 significant digits, RESP2 a bulk string
	KindBool           // #, RESP2 an integer
	KindVerbatim       // =txt:, RESP2 a bulk string
	KindBigNumber      // (, RESP2 a bulk string
	KindRaw            // encoded already
	KindSequence       // several replies in a row (SUBSCRIBE a b)
)

// Reply is the value that a command returns. RESP2, RESP3, EXEC and Lua use the
// same value, so a script gets a reply that was never encoded.
//
// A Reply is small and passed by value; scalar replies allocate nothing. Its bytes
// may alias the store or the command's arguments. It is valid until the engine
// lock is released or the next command of the same unit (script, EXEC) runs.
type Reply struct {
	kind   Kind
	digits bool    // of KindBulk: the text is the digits of n
	n      int64   // KindInt, KindBool; the bits of KindDouble; the format of KindVerbatim
	s      string  // the text, or the encoding of KindRaw; KindDouble: "" unless DoubleText
	elems  []Reply // of an aggregate
}

// OK is the status reply +OK.
var OK = Status("OK")

// Queued is the status reply of a command inside MULTI.
var Queued = Status("QUEUED")

// NoReply writes nothing.
var NoReply = Reply{}

// Nil is the null bulk string.
var Nil = Reply{kind: KindNil}

// NilArray is the null array: *-1 in RESP2, and _ in RESP3 as for Nil.
var NilArray = Reply{kind: KindNilArray}

// EmptyArray is an array without elements.
var EmptyArray = Reply{kind: KindArray}

// Int returns an integer reply.
func Int(n int64) Reply { return Reply{kind: KindInt, n: n} }

// Flag returns the integer 1 for true and 0 for false, as most Redis commands with
// a yes-or-no result do.
func Flag(b bool) Reply {
	if b {
		return Int(1)
	}
	return Int(0)
}

// Bool returns a RESP3 boolean, in RESP2 an integer.
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

// DoubleText returns a floating-point reply that is written as text. text is the decimal form
// of a number, for commands that do not write 17 significant digits.
func DoubleText(text string) Reply {
	f, _ := strconv.ParseFloat(text, 64)
	r := Double(f)
	r.s = text
	return r
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
func BulkInt(n int64) Reply { return Reply{kind: KindBulk, digits: true, n: n} }

// Verbatim returns a verbatim string of format txt, as INFO and LOLWUT do.
func Verbatim(s string) Reply { return Reply{kind: KindVerbatim, s: s} }

// VerbatimAs returns a verbatim string of another format than txt. A format has
// three bytes: a longer one is cut, a shorter one filled with spaces.
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

// Raw returns a reply that is encoded already, in the RESP version of its client.
// It aliases encoded.
func Raw(encoded []byte) Reply {
	r := Bulk(encoded)
	r.kind = KindRaw
	return r
}

// Array returns an array reply that keeps elems. Without elems it is the empty
// array.
func Array(elems ...Reply) Reply { return Reply{kind: KindArray, elems: elems} }

// Map returns a map reply. pairs is key, value, key, value.
func Map(pairs ...Reply) Reply { return Reply{kind: KindMap, elems: pairs} }

// Set returns a set reply that keeps elems.
func Set(elems ...Reply) Reply { return Reply{kind: KindSet, elems: elems} }

// Push returns a push: a message that is not the reply to a command.
func Push(elems ...Reply) Reply { return Reply{kind: KindPush, elems: elems} }

// Sequence returns several replies to one command, in their order.
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

// Text returns the text of a status, error, bulk, verbatim or big-number reply, the
// digits that DoubleText was given, and the encoding of a Raw reply. It is "" for other kinds. It may alias the store, as
// the Reply does.
func (r Reply) Text() string {
	if r.digits {
		return strconv.FormatInt(r.n, 10)
	}
	return r.s
}

// Elems returns the elements of an aggregate; for a map, key, value, key, value. It
// is nil for other kinds.
func (r Reply) Elems() []Reply { return r.elems }

// ArrayHeader returns the header of an array with n elements. The elements are sent
// as n more replies.
func ArrayHeader(n int) Reply { return Reply{kind: KindRaw, s: "*" + strconv.Itoa(n) + "\r\n"} }
