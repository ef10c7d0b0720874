package abuse

import (
	"strings"
	"testing"

	"github.com/lockredis/lockredis/internal/redistest"
)

// giants are commands with numbers that ask for much memory or work. Where Redis refuses
// them, lockredis refuses with the same text. Where Redis would use up its memory,
// lockredis refuses with its own text.
var giants = []struct{ command, reply string }{
	{"HRANDFIELD h -2147483648", tooManyPicks},
	{"HRANDFIELD h -2147483648 WITHVALUES", tooManyPicks},
	{"HRANDFIELD h -9223372036854775807", tooManyPicks},
	{"HRANDFIELD h -9223372036854775808", "-ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807"},
	{"HRANDFIELD h -9223372036854775807 WITHVALUES", "-ERR value is out of range"},
	{"HRANDFIELD none -9223372036854775807", "[]"},
	{"SRANDMEMBER s -2147483648", tooManyPicks},
	{"SRANDMEMBER s -9223372036854775807", tooManyPicks},
	{"SRANDMEMBER none -9223372036854775807", "[]"},
	{"ZRANDMEMBER z -2147483648", tooManyPicks},
	{"ZRANDMEMBER z -9223372036854775807", tooManyPicks},
	{"ZRANDMEMBER z -4611686018427387903 WITHSCORES", tooManyPicks},
	{"HRANDFIELD h 9223372036854775807", `["a"]`},
	{"SRANDMEMBER s 9223372036854775807", `["a"]`},
	{"ZRANDMEMBER z 9223372036854775807", `["a"]`},
	{"SPOP none 9223372036854775807", "[]"},
	{"LPOS l a RANK 9223372036854775807 MAXLEN 9223372036854775807", "(nil)"},
	{"LPOS l a RANK -9223372036854775807 COUNT 9223372036854775807", "[]"},
	{"LPOS l a COUNT 9223372036854775807", "[:0]"},
	{"LPOP none 9223372036854775807", "(nil array)"},
	{"LRANGE l -9223372036854775808 9223372036854775807", `["a" "b"]`},
	{"LTRIM l -9223372036854775808 9223372036854775807", "+OK"},
	{"LINDEX l 9223372036854775807", "(nil)"},
	{"LSET l -9223372036854775808 x", "-ERR index out of range"},
	{"LREM l -9223372036854775807 none", ":0"},
	{"LMPOP 2147483648 l LEFT", "-ERR syntax error"},
	{"LMPOP 9223372036854775807 l LEFT", "-ERR syntax error"},
	{"SINTERCARD 9223372036854775807 s", "-ERR Number of keys can't be greater than number of args"},
	{"SINTERCARD 1 s LIMIT 9223372036854775807", ":1"},
	{"SINTERCARD 1 s LIMIT -9223372036854775808", "-ERR LIMIT can't be negative"},
	{"ZUNION 9223372036854775807 z", "-ERR syntax error"},
	{"ZRANGE z 0 -1 LIMIT 0 1", "-ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX"},
	{"ZRANGE z -inf +inf BYSCORE LIMIT 9223372036854775807 9223372036854775807", "[]"},
	{"ZRANGE z -inf +inf BYSCORE LIMIT -9223372036854775808 -9223372036854775808", "[]"},
	{"ZRANGE z - + BYLEX LIMIT 0 9223372036854775807", `["a"]`},
	{"ZPOPMIN none 9223372036854775807", "[]"},
	{"SORT l ALPHA LIMIT 9223372036854775807 9223372036854775807", "[]"},
	{"SORT l ALPHA LIMIT -9223372036854775808 9223372036854775807", `["a" "b"]`},
	{"SETRANGE k 536870911 xx", "-ERR string exceeds maximum allowed size (proto-max-bulk-len)"},
	{"SETRANGE k 9223372036854775807 x", "-ERR string exceeds maximum allowed size (proto-max-bulk-len)"},
	{"SETRANGE k -1 x", "-ERR offset is out of range"},
	{"GETRANGE k -9223372036854775808 9223372036854775807", `"value"`},
	{"SCAN 18446744073709551615 COUNT 9223372036854775807", ""},
	{"HSCAN h 0 COUNT 9223372036854775807", `["0" ["a" "1"]]`},
	{"SSCAN s 18446744073709551615 COUNT 9223372036854775807", `["0" ["a"]]`},
	{"EXPIRE k 9223372036854775807", "-ERR invalid expire time in 'expire' command"},
	{"PEXPIREAT k 9223372036854775807", ""},
	{"SET k v PX 9223372036854775807", "-ERR invalid expire time in 'set' command"},
	{"SELECT 9223372036854775807", errIntRange},
	{"COPY a b DB 2147483648", errIntRange},
	{"MOVE a -2147483649", errIntRange},
	{"SWAPDB 0 2147483647", "-ERR DB index is out of range"},
	{"OBJECT FREQ none", "(nil)"},
	{"LOLWUT VERSION 5 2147483647 2147483647 2147483647", ""},
	{"COMMAND GETKEYS ZUNIONSTORE d 2147483647 a", "-ERR Invalid arguments specified for command"},
	{"COMMAND GETKEYS EVAL x 9223372036854775807 a", "[]"},
	{"EVAL x 9223372036854775807 a", "-ERR Number of keys can't be greater than number of args"},
	{"CLIENT UNBLOCK -9223372036854775808", ":0"},
	{"WAIT 9223372036854775807 1", ":0"},
	{"BLPOP none 9223372036854775807", "-ERR timeout is negative"},
}

const errIntRange = "-ERR value is out of range, value must between -2147483648 and 2147483647"

// tooManyPicks is the refusal of a negative count below -1048576. Redis would allocate
// the reply.
const tooManyPicks = "-ERR value is out of range, a negative count must be between -1048576 and -1"

func TestGiantNumbersGetAClearAnswer(t *testing.T) {
	v := attack(t, nil)
	c := v.dial()
	before := measure()
	for _, g := range giants {
		for _, fill := range []string{"FLUSHALL", "HSET h a 1", "SADD s a", "ZADD z 1 a", "RPUSH l a b",
			"SET k value"} {
			v.do(c, strings.Fields(fill)...)
		}
		r := v.do(c, strings.Fields(g.command)...)
		if got := r.String(); g.reply != "" && got != g.reply {
			t.Errorf("%s\n got %.300s\nwant %s", g.command, got, g.reply)
		}
	}
	c.Close()
	v.alive()
	v.recovers(before)
}

func TestLargestRandomCountIsAnswered(t *testing.T) {
	redistest.SkipUnlessWhole(t)
	v := attack(t, nil)
	c := v.dial()
	v.do(c, "SADD", "s", "a", "b")
	before := measure()
	if r := v.do(c, "SRANDMEMBER", "s", "-1048576"); len(r.Elems) != 1048576 {
		t.Errorf("%.100s", r)
	}
	v.recovers(before)
}

func TestStringsEndAtProtoMaxBulkLen(t *testing.T) {
	v := attack(t, map[string]string{"proto-max-bulk-len": "1mb"})
	c := v.dial()
	const limit = 1 << 20
	big := strings.Repeat("x", limit)
	v.want(c, "+OK", "SET", "k", big)
	v.want(c, "-ERR string exceeds maximum allowed size (proto-max-bulk-len)", "APPEND", "k", "x")
	v.want(c, "-ERR string exceeds maximum allowed size (proto-max-bulk-len)", "SETRANGE", "k",
		"1048576", "x")
	v.want(c, ":1048576", "SETRANGE", "k", "1048575", "x")
	v.want(c, "+OK", "SET", "k2", big)
	v.want(c, "-ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len", "LCS",
		"k", "k2")
	// Only the header is sent: the refusal resets a connection that is still sending the
	// bytes.
	if err := c.WriteRaw([]byte("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1048577\r\n")); err != nil {
		t.Fatal(err)
	}
	if r, err := c.Receive(); err != nil || r.String() != "-ERR Protocol error: invalid bulk length" {
		t.Errorf("SET of a byte too many: %.300s %v", r, err)
	}
	v.alive()
}
