package abuse

import (
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis/compat_test/wire"
	"github.com/lockredis/lockredis/expiry"
)

// A client-output-buffer-limit that CONFIG SET lowers closes clients that get no more output.
func TestALoweredOutputLimitEndsClientsThatExceedIt(t *testing.T) {
	for _, limit := range []string{"normal 1mb 0 0", "normal 0 1mb 0"} {
		t.Run(limit, func(t *testing.T) {
			v := attack(t, map[string]string{"client-output-buffer-limit": "normal 0 0 0"})
			c := v.dial()
			v.deafWith64MB(c)
			v.want(c, "+OK", "CONFIG", "SET", "client-output-buffer-limit", limit)
			eventually(t, time.Minute, func() string {
				if missing(v, c, "name=deaf") == "" {
					return "the client is still connected"
				}
				return ""
			})
			v.alive()
		})
	}
}

// The time of a soft limit is the last CONFIG SET's.
func TestALoweredTimeOfASoftOutputLimitCountsFromItsBeginning(t *testing.T) {
	clock := expiry.NewManual(time.Now())
	v := attackOn(t, clock, map[string]string{"client-output-buffer-limit": "normal 0 1mb 3600"})
	c := v.dial()
	v.deafWith64MB(c)
	clock.Advance(time.Minute)
	v.want(c, "+OK", "CONFIG", "SET", "client-output-buffer-limit", "normal 0 1mb 61")
	if missing(v, c, "name=deaf") != "" {
		t.Fatal("the client was closed before its time")
	}
	v.want(c, "+OK", "CONFIG", "SET", "client-output-buffer-limit", "normal 0 1mb 59")
	eventually(t, time.Minute, func() string {
		if missing(v, c, "name=deaf") == "" {
			return "the client is still connected"
		}
		return ""
	})
}

// deafWith64MB opens a client with the name deaf that reads none of its 64 MB of replies.
func (v *victim) deafWith64MB(c *wire.Conn) {
	v.t.Helper()
	v.want(c, "+OK", "SET", "k", strings.Repeat("x", 1<<20))
	deaf := v.deaf("CLIENT", "SETNAME", "deaf")
	for range 64 {
		send(v.t, deaf, "GET", "k")
	}
	eventually(v.t, time.Minute, func() string { return missing(v, c, "name=deaf", "events=rw") })
}
