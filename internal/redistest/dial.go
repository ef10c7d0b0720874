package redistest

import (
	"testing"

	"github.com/lockredis/lockredis/compat_test/wire"
)

// Dial connects to addr, which is as wire.Dial takes it, until the end of the test.
func Dial(tb testing.TB, addr string) *wire.Conn {
	tb.Helper()
	c, err := wire.Dial(addr)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { c.Close() })
	return c
}
