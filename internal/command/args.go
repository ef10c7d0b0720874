package command

import (
	"math"
	"strings"

	"github.com/lockredis/lockredis/internal/glob"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

// Argument parsing that several command groups share.

// IsWord reports whether b equals word, ignoring case. word is in lower case. As in Redis, b
// may continue behind a zero byte.
func IsWord(b []byte, word string) bool {
	n := len(word)
	return (len(b) == n || len(b) > n && b[n] == 0) && strings.EqualFold(string(b[:n]), word)
}

// GlobFold reports whether s matches pattern, ignoring case.
func GlobFold(pattern, s string) bool { return glob.Match(pattern, s, true) }

var errIntRange = resp.Error("ERR value is out of range, " +
	"value must between -2147483648 and 2147483647")

// ParseAtLeast parses an integer that is not less than least.
func ParseAtLeast(arg []byte, least int64) (n int64, failure resp.Reply) {
	n, ok := resp.ParseInt(arg)
	switch {
	case !ok:
		return 0, resp.ErrNotInt
	case n < least:
		return 0, resp.ErrValuePositive
	}
	return n, resp.NoReply
}

// ParseDB parses a database number. db is nil after a failure.
func ParseDB(c *Ctx, arg []byte) (db *store.DB, failure resp.Reply) {
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

// ClampRange converts Redis's inclusive bounds of a range over size elements into
// [from, to). Negative bounds count from the end: -1 is the last element. In an empty
// range from equals to.
func ClampRange(start, end int64, size int) (from, to int) {
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

// ParseRange parses the bounds of LRANGE, LTRIM, GETRANGE and of ZRANGE by rank.
func ParseRange(first, last []byte) (start, end int64, ok bool) {
	start, ok = resp.ParseInt(first)
	if !ok {
		return 0, 0, false
	}
	end, ok = resp.ParseInt(last)
	return start, end, ok
}

// FlushOption reads the option of a flush, if there is one: SYNC or ASYNC. Both flush in the
// same way, but lazily says that INFO counts what is gone. ok is false if the option is invalid.
func FlushOption(c *Ctx, options resp.Args) (lazily, ok bool) {
	switch {
	case len(options) == 0:
		return c.Config.Lazyfree.UserFlush, true
	case len(options) == 1 && IsWord(options[0], "async"):
		return true, true
	}
	return false, len(options) == 1 && IsWord(options[0], "sync")
}
