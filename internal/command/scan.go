package command

import (
	"strconv"
	"strings"

	"github.com/lockredis/lockredis/internal/glob"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

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
