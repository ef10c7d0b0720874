package command

import (
	"strconv"
	"strings"

	"github.com/lockredis/lockredis/internal/glob"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

// scanOptions are the options of SCAN, HSCAN, SSCAN and ZSCAN.
type scanOptions struct {
	count   int
	pattern string
	match   bool // apply pattern
	typed   bool // apply wanted: TYPE, which only SCAN has
	wanted  store.Type
}

// parseScanOptions parses COUNT, MATCH and, if allowType is set, TYPE.
func parseScanOptions(args resp.Args, allowType bool) (o scanOptions, failure resp.Reply) {
	o.count = 10
	for i := 0; i < len(args); i += 2 {
		if i+1 == len(args) {
			return o, resp.ErrSyntax
		}
		switch {
		case isWord(args[i], "count"):
			n, ok := resp.ParseInt(args[i+1])
			switch {
			case !ok:
				return o, resp.ErrNotInt
			case n < 1:
				return o, resp.ErrSyntax
			}
			o.count = int(n)
		case isWord(args[i], "match"):
			o.pattern = args.String(i + 1)
			o.match = o.pattern != "*"
		case allowType && isWord(args[i], "type"):
			o.typed = true
			o.wanted = store.Type(strings.ToLower(string(cText(args[i+1]))))
		default:
			return o, resp.ErrSyntax
		}
	}
	return o, resp.NoReply
}

// wants reports whether a key or an element matches MATCH.
func (o *scanOptions) wants(s string) bool {
	return !o.match || glob.Match(o.pattern, s, false)
}

// wantsType reports whether a value has the type of TYPE.
func (o *scanOptions) wantsType(v store.Value) bool {
	return !o.typed || v.Type() == o.wanted
}

// parseCursor parses a cursor as C's strtoul does: a sign is allowed, and - negates modulo
// 2^64. As in Redis, leading white space is refused.
func parseCursor(b []byte) (cursor uint64, ok bool) {
	b = cText(b)
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

// scanReply is the reply of the SCAN family.
func scanReply(cursor uint64, elems []resp.Reply) resp.Reply {
	next := "0"
	if cursor != 0 {
		next = strconv.FormatUint(cursor, 10)
	}
	return resp.Array(resp.BulkString(next), resp.Array(elems...))
}
