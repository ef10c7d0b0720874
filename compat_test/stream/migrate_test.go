package stream

import (
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/lockredis/lockredis/internal/redistest"
)

// MIGRATE tells which keys are gone because the other server has them.
func TestMIGRATEIsToldAsRedisTellsIt(t *testing.T) {
	redistest.Asked(t)
	run := func(s *side) (lines, replies []string) {
		_, port, err := net.SplitHostPort(redistest.Start(t).Addr) // gets the keys
		if err != nil {
			t.Fatal(err)
		}
		return s.stream(t, strings.ReplaceAll(`
			MSET a 1 b 2 c 3 d 4
			EXPIRE d 1000
			TO none 0 5000
			TO a 0 5000
			TO b 0 5000 COPY
			TO b 0 5000
			TO b 0 5000 REPLACE
			SET a 5
			TO "" 0 5000 KEYS a c d none
			TO "" 0 5000 REPLACE KEYS a c d none
			MSET a 1 b 2
			TO "" 0 5000 COPY REPLACE KEYS a b
			TO "" 0 5000 REPLACE KEYS a b
			DBSIZE`, "TO", "MIGRATE 127.0.0.1 "+port), "end")
	}
	want, wantReplies := run(oracle(t, ""))
	got, gotReplies := run(target(t, "redis-7.0"))
	if !slices.Equal(got, want) || !slices.Equal(gotReplies, wantReplies) {
		t.Errorf("got  %q\nwant %q\ngot  %q\nwant %q", got, want, gotReplies, wantReplies)
	}
}
