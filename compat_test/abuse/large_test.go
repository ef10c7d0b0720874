package abuse

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/lockredis/lockredis/compat_test/wire"
	"github.com/lockredis/lockredis/internal/redistest"
)

// large is the size of keys and values in bytes: hundreds of MB, or a tenth of that with
// the race detector, which slows every byte.
const large = 200 << 20 / shrink

// send writes a command in pieces. Its last argument is large bytes of x.
func (v *victim) send(c *wire.Conn, before string) {
	v.t.Helper()
	piece := bytes.Repeat([]byte("x"), 1<<20)
	if err := c.WriteRaw(fmt.Appendf(nil, "%s$%d\r\n", before, large)); err != nil {
		v.t.Fatal(err)
	}
	for left := large; left > 0; left -= len(piece) {
		if err := c.WriteRaw(piece[:min(left, len(piece))]); err != nil {
			v.t.Fatal(err)
		}
	}
	if err := c.WriteRaw([]byte("\r\n")); err != nil {
		v.t.Fatal(err)
	}
}

// got compares the next reply.
func (v *victim) got(c *wire.Conn, want string) {
	v.t.Helper()
	if r, err := c.Receive(); err != nil || r.String() != want {
		v.t.Fatalf("got %.300s %v, want %s", r, err, want)
	}
}

func TestValueOfHundredsOfMBIsStoredAndReturned(t *testing.T) {
	redistest.SkipUnlessWhole(t)
	v := attack(t, nil)
	c, other := v.dial(), v.dial()
	v.want(c, "+PONG", "PING")
	before := measure()
	v.send(c, "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n")
	v.want(other, "+PONG", "PING")
	v.got(c, "+OK")
	v.want(c, fmt.Sprint(":", large+3), "APPEND", "k", "end")
	v.want(c, fmt.Sprint(":", large+100), "SETRANGE", "k", fmt.Sprint(large+99), "!")
	v.want(c, `"xend\x00"`, "GETRANGE", "k", fmt.Sprint(large-1), fmt.Sprint(large+3))
	v.send(c, "*3\r\n$6\r\nAPPEND\r\n$1\r\nk\r\n")
	v.got(c, fmt.Sprint(":", 2*large+100))
	v.want(c, ":1", "COPY", "k", "k2")
	v.send(c, "*4\r\n$4\r\nHSET\r\n$1\r\nh\r\n$1\r\nf\r\n")
	v.got(c, ":1")
	v.want(c, fmt.Sprint(":", large), "HSTRLEN", "h", "f")
	v.want(c, fmt.Sprint(":", large), "EVAL", "return #redis.call('HGET', KEYS[1], 'f')", "1", "h")
	v.alive()
	v.want(c, ":3", "DEL", "k", "k2", "h")
	v.recovers(before)
}

func TestKeyOfHundredsOfMBIsStoredAndFound(t *testing.T) {
	redistest.SkipUnlessWhole(t)
	v := attack(t, nil)
	c := v.dial()
	v.want(c, "+PONG", "PING")
	before := measure()
	v.send(c, "*2\r\n$4\r\nINCR\r\n")
	v.got(c, ":1")
	v.send(c, "*2\r\n$4\r\nINCR\r\n")
	v.got(c, ":2")
	v.send(c, "*2\r\n$6\r\nEXISTS\r\n")
	v.got(c, ":1")
	v.alive()
	v.want(c, "+OK", "FLUSHALL")
	v.recovers(before)
}
