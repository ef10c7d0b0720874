package command

import (
	"fmt"
	"testing"
)

// The commands of this test are not in the table yet. Their specs are those of COMMAND INFO
// of redis-server 7.0.15.
func TestKeysAreFoundBehindAKeyword(t *testing.T) {
	streams := KeySpec{
		Begin: Keyword, Keyword: "STREAMS", From: 1, Find: Range, Last: -1, Step: 1, Limit: 2,
	}
	migrate := KeySpec{Begin: Keyword, Keyword: "KEYS", From: -2, Find: Range, Last: -1, Step: 1}
	groups := streams
	groups.From = 4
	for _, row := range []struct {
		line string
		spec KeySpec
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
		args := arguments(row.line)
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
