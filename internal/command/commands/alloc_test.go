package commands_test

import (
	"testing"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/command/commandtest"
)

// noEvents drops all events.
type noEvents struct{ command.Events }

func (noEvents) Notify(command.Class, string, int, string) {}

func TestHotCommandsAllocateOnlyWhatTheyStoreOrReturn(t *testing.T) {
	h := commandtest.New(t)
	h.Ctx.Events = noEvents{}
	h.Run("set s some-text")
	h.Run("set i 5")
	h.Run("hset h uuid:1 1 uuid:2 1")
	h.Run("sadd e 1 2 3")
	h.Run("rpush l a b c d e f")
	h.Run("zadd z 1 a 2 b 3 c 4 d")
	for _, row := range []struct {
		line string
		most float64
	}{
		{"get s", 0},
		{"set s some-text", 2},
		{"incr i", 0},
		{"hget h uuid:1", 0},
		{"hset h uuid:1 1", 0},
		{"hexists h uuid:1", 0},
		{"hincrby h uuid:1 1", 0},
		{"hdel h none", 0},
		{"hgetall h", 1},
		{"sismember e 1", 0},
		{"sadd e 1", 0},
		{"lpush l x", 1}, // sometimes a node grows
		{"lpop l", 1},    // the copy in the reply
		{"lindex l 1", 0},
		{"lrange l 0 2", 1},
		{"lrem l 1 none", 0},
		{"zadd z 5 a", 0},
		{"zadd z 7 b", 0},
		{"zincrby z 1 c", 0},
		{"zscore z a", 0},
		{"zcard z", 0},
		{"zcount z -inf (3", 0},
		{"zrange z 0 -1", 1},
		{"zrangebyscore z 0 9 limit 0 2", 1},
		{"zrem z none", 0},
	} {
		args := commandtest.Args(row.line)
		cmd := h.Ctx.Table.Find(args)
		h.Ctx.Cmd = cmd
		got := testing.AllocsPerRun(100, func() { cmd.Run(&h.Ctx, args) })
		if got > row.most {
			t.Errorf("%s allocates %v times, want at most %v", row.line, got, row.most)
		}
	}
}
