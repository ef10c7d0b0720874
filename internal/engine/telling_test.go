package engine

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis/expiry"
	"github.com/lockredis/lockredis/internal/command/commands"
	"github.com/lockredis/lockredis/resp"
)

func TestFieldsThatExpireAreTold(t *testing.T) {
	clock := expiry.NewManual(epoch)
	e := newTestEngine(clock)
	t.Cleanup(e.Close)
	commands.EmulateValkey(e.env.Table)
	e.env.Space.FieldDeadlines = true
	var told []string
	e.Follow(func(_ int, line resp.Args) { told = append(told, string(bytes.Join(line, []byte(" ")))) })
	s, _ := connect(e)
	send(e, s, "HSET", "h", "a", "1", "b", "2", "c", "3", "d", "4")
	send(e, s, "HPEXPIRE", "h", "1", "FIELDS", "2", "a", "b")
	send(e, s, "HPEXPIRE", "h", "2", "FIELDS", "1", "c")
	send(e, s, "HPEXPIRE", "h", "3", "FIELDS", "1", "d")
	told = nil
	for _, want := range [][]string{{"HDEL h a b"}, {"HDEL h c"}, {"HDEL h d"}} {
		clock.Advance(time.Millisecond)
		e.Outside(e.EndDue)
		if !slices.Equal(told, want) {
			t.Errorf("told %q, want %q", told, want)
		}
		told = nil
	}
}

// redis-server tells the expired keys that KEYS finds one by one, in the order of its table.
func TestExpiredKeysThatKEYSFindsAreToldApart(t *testing.T) {
	for _, line := range []string{"KEYS *", "SCAN 0", "RANDOMKEY", "MGET a b"} {
		clock := expiry.NewManual(epoch)
		e := newTestEngine(clock)
		t.Cleanup(e.Close)
		var told []string
		e.Follow(func(_ int, line resp.Args) { told = append(told, string(bytes.Join(line, []byte(" ")))) })
		s, _ := connect(e)
		send(e, s, "DEBUG", "SET-ACTIVE-EXPIRE", "0")
		send(e, s, "SET", "a", "1", "PX", "1")
		send(e, s, "SET", "b", "1", "PX", "1")
		clock.Advance(time.Millisecond)
		told = nil
		send(e, s, strings.Fields(line)...)
		want := []string{"DEL a", "DEL b"}
		if line == "MGET a b" {
			want = []string{"MULTI", "DEL a", "DEL b", "EXEC"}
		} else {
			slices.Sort(told)
		}
		if !slices.Equal(told, want) {
			t.Errorf("%s: told %q, want %q", line, told, want)
		}
	}
}
