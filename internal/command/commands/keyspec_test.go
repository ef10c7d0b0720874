package commands_test

import (
	"fmt"
	"testing"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/command/commandtest"
)

// The commands of this test are not in the table yet. Their specs are what COMMAND INFO replies
// of redis-server 7.0.15.
func TestKeysAreFoundBehindAKeyword(t *testing.T) {
	streams := command.KeySpec{
		Begin: command.Keyword, Keyword: "STREAMS", From: 1, Find: command.Range, Last: -1, Step: 1, Limit: 2,
	}
	migrate := command.KeySpec{Begin: command.Keyword, Keyword: "KEYS", From: -2, Find: command.Range, Last: -1, Step: 1}
	groups := streams
	groups.From = 4
	for _, row := range []struct {
		line string
		spec command.KeySpec
		want string // the keys and whether the line fits the spec
	}{
		{"xread count 2 streams a b 0 0", streams, "[a b] true"},
		{"xread streams a 0", streams, "[a] true"},
		{"xread STREAMS streams keys 0 1", streams, "[streams keys] true"},
		{"xreadgroup group g c noack streams a b 1 2", groups, "[a b] true"},
		{"xread count 2 a b 0 0", streams, "[] true"},
		{"xread count 2 streams", streams, "[] true"},
		{"migrate h 1 '' 0 10 KEYS a b", migrate, "[a b] true"},
		{"migrate h 1 '' 0 10 copy keys a", migrate, "[a] true"},
		{"migrate h 1 k 0 10", migrate, "[] true"},
		{"migrate h 1 k 0 10 KEYS", migrate, "[] true"},
	} {
		args := commandtest.Args(row.line)
		found, ok := row.spec.Positions(args)
		keys := []string{}
		for _, k := range found {
			keys = append(keys, args.String(k.At))
		}
		if got := fmt.Sprint(keys, ok); got != row.want {
			t.Errorf("%s: keys %s, want %s", row.line, got, row.want)
		}
	}
}
