package str

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

var (
	errLCSNotStrings = resp.Error("ERR The specified keys must contain string values")
	errLCSBoth       = resp.Error("ERR If you want both the length and indexes, please just use IDX.")
	errLCSMemory     = resp.Error("ERR Insufficient memory, " +
		"transient memory for LCS exceeds proto-max-bulk-len")
)

// lcsOptions are the options of LCS.
type lcsOptions struct {
	length, indexes, withLengths bool
	minLength                    int64
}

func parseLCSOptions(args resp.Args) (o lcsOptions, failure resp.Reply) {
	for i := 0; i < len(args); i++ {
		switch {
		case command.IsWord(args[i], "idx"):
			o.indexes = true
		case command.IsWord(args[i], "len"):
			o.length = true
		case command.IsWord(args[i], "withmatchlen"):
			o.withLengths = true
		case command.IsWord(args[i], "minmatchlen") && i+1 < len(args):
			i++
			n, ok := resp.ParseInt(args[i])
			if !ok {
				return o, resp.ErrNotInt
			}
			o.minLength = max(n, 0)
		default:
			return o, resp.ErrSyntax
		}
	}
	if o.length && o.indexes {
		return o, errLCSBoth
	}
	return o, resp.NoReply
}

func lcs(c *command.Ctx, args resp.Args) resp.Reply {
	s1, ok1 := command.As[*store.String](c.DB.Lookup(args[1]))
	s2, ok2 := command.As[*store.String](c.DB.Lookup(args[2]))
	if !ok1 || !ok2 {
		return errLCSNotStrings
	}
	o, failure := parseLCSOptions(args[3:])
	if failure.IsError() {
		return failure
	}
	var a, b []byte
	if s1 != nil {
		a = s1.Bytes(nil)
	}
	if s2 != nil {
		b = s2.Bytes(nil)
	}
	if size := (int64(len(a)) + 1) * (int64(len(b)) + 1); size > c.Config.ProtoMaxBulkLen.Load()/4 {
		return errLCSMemory
	}
	t := newLCSTable(a, b)
	switch {
	case o.length:
		return resp.Int(t.at(len(a), len(b)))
	case !o.indexes:
		return resp.Bulk(t.subsequence())
	}
	return resp.Map(
		resp.BulkString("matches"), resp.Array(t.matches(&o)...),
		resp.BulkString("len"), resp.Int(t.at(len(a), len(b))),
	)
}

// lcsTable holds the length of the longest common subsequence of every pair of
// prefixes of a and b.
type lcsTable struct {
	a, b    []byte
	lengths []uint32
}

func newLCSTable(a, b []byte) *lcsTable {
	width := len(b) + 1
	t := &lcsTable{a, b, make([]uint32, (len(a)+1)*width)}
	for i := range a {
		above, row := t.lengths[i*width:(i+1)*width], t.lengths[(i+1)*width:(i+2)*width]
		for j := range b {
			if a[i] == b[j] {
				row[j+1] = above[j] + 1
			} else {
				row[j+1] = max(above[j+1], row[j])
			}
		}
	}
	return t
}

// at returns the length for the first i bytes of a and the first j bytes of b.
func (t *lcsTable) at(i, j int) int64 { return int64(t.lengths[i*(len(t.b)+1)+j]) }

// walk follows a longest common subsequence from the ends of a and b to a beginning. After
// each step it calls step with its position, before a[i] and b[j]. matched tells whether
// these two bytes belong to the subsequence.
func (t *lcsTable) walk(step func(i, j int, matched bool)) {
	i, j := len(t.a), len(t.b)
	for i > 0 && j > 0 {
		matched := t.a[i-1] == t.b[j-1]
		switch {
		case matched:
			i, j = i-1, j-1
		case t.at(i-1, j) > t.at(i, j-1):
			i--
		default:
			j--
		}
		step(i, j, matched)
	}
}

func (t *lcsTable) subsequence() []byte {
	text := make([]byte, t.at(len(t.a), len(t.b)))
	left := len(text)
	t.walk(func(i, _ int, matched bool) {
		if matched {
			left--
			text[left] = t.a[i]
		}
	})
	return text
}

// matches returns the ranges of matched bytes, the last one first.
func (t *lcsTable) matches(o *lcsOptions) []resp.Reply {
	var ranges []resp.Reply
	run := int64(0) // length of the current range
	emit := func(a, b int64) {
		if run > 0 && run >= o.minLength {
			ranges = append(ranges, matchReply(a, b, run, o.withLengths))
		}
		run = 0
	}
	var a, b int64 // where the current range begins in t.a and in t.b
	t.walk(func(i, j int, matched bool) {
		if !matched {
			emit(a, b)
			return
		}
		run++
		a, b = int64(i), int64(j)
	})
	emit(a, b)
	return ranges
}

func matchReply(a, b, length int64, withLength bool) resp.Reply {
	span := func(from int64) resp.Reply {
		return resp.Array(resp.Int(from), resp.Int(from+length-1))
	}
	if withLength {
		return resp.Array(span(a), span(b), resp.Int(length))
	}
	return resp.Array(span(a), span(b))
}
