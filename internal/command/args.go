package command

import (
	"math"
	"strings"

	"github.com/lockredis/lockredis/internal/glob"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

// What several groups read from their arguments.

// isWord reports whether b is word in any spelling; word is lower case.
func isWord(b []byte, word string) bool {
	return len(b) == len(word) && strings.EqualFold(string(b), word)
}

// globFold reports whether s matches a glob in any spelling.
func globFold(pattern, s string) bool { return glob.Match(pattern, s, true) }

var errIntRange = resp.Error("ERR value is out of range, value must between -2147483648 and 2147483647")

// database reads the number of a database.
func database(c *Ctx, arg []byte) (db *store.DB, failure resp.Reply) {
	n, ok := resp.ParseInt(arg)
	switch {
	case !ok:
		return nil, resp.ErrNotInt
	case n < math.MinInt32 || n > math.MaxInt32:
		return nil, errIntRange
	case n < 0 || int(n) >= c.Space.Len():
		return nil, resp.ErrDBIndex
	}
	return c.Space.DB(int(n)), resp.NoReply
}

// clampRange turns Redis's start and end of a range over size elements, which
// may count from the last element, into [from, to). from is to when nothing is
// in it.
func clampRange(start, end int64, size int) (from, to int) {
	n := int64(size)
	if start < 0 {
		start = max(start+n, 0)
	}
	if end < 0 {
		end += n
	}
	end = min(end, n-1)
	if start > end {
		return 0, 0
	}
	return int(start), int(end) + 1
}

// parseRange reads the start and end of a range: of LRANGE, GETRANGE, ZRANGE by
// rank.
func parseRange(first, last []byte) (start, end int64, ok bool) {
	start, ok = resp.ParseInt(first)
	if !ok {
		return 0, 0, false
	}
	end, ok = resp.ParseInt(last)
	return start, end, ok
}
