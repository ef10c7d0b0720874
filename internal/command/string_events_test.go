package command

import (
	"testing"

	"github.com/lockredis/lockredis/resp"
)

// announce runs commands and checks the events of each, those of the store
// ("new", "expired") included.
func announce(t *testing.T, steps [][2]string) {
	t.Helper()
	h := newHarness(t)
	for _, step := range steps {
		h.run(step[0])
		if got := h.happened(); got != step[1] {
			t.Errorf("%s announces %q, want %q", step[0], got, step[1])
		}
	}
}

func TestStringCommandsAnnounceAsRedis(t *testing.T) {
	announce(t, [][2]string{
		{"set k v", "new k, set k"},
		{"set k v px 100", "set k, expire k"},
		{"set k v nx", ""},
		{"set k v exat 1", "set k, expire k"},
		{"get k", "expired k"},
		{"setex k 10 v", "new k, set k, expire k"},
		{"getex k persist", "persist k"},
		{"getex k persist", ""},
		{"getex k ex 5", "expire k"},
		{"getex k", ""},
		{"getex k pxat 1", "del k"},
		{"append k v", "new k, append k"},
		{"setrange k 0 v", "setrange k"},
		{"setrange k 0 ''", ""},
		{"getdel k", "del k"},
		{"incr k", "new k, incrby k"},
		{"decr k", "incrby k"},
		{"incrbyfloat k 1.5", "incrbyfloat k"},
		{"getset k v", "set k"},
		{"mset k 1 n 2", "set k, new n, set n"},
		{"msetnx k 1 o 2", ""},
		{"setnx k v", ""},
	})
}

func TestHashCommandsAnnounceAsRedis(t *testing.T) {
	announce(t, [][2]string{
		{"hset h f v g w", "new h, hset h"},
		{"hmset h f v", "hset h"},
		{"hsetnx h f v", ""},
		{"hsetnx h n 1", "hset h"},
		{"hincrby h n 1", "hincrby h"},
		{"hincrbyfloat h n 1", "hincrbyfloat h"},
		{"hincrby h f 1", ""},
		{"hdel h none", ""},
		{"hdel h f g", "hdel h"},
		{"hdel h n", "hdel h, del h"},
	})
}

func TestSetCommandsAnnounceAsRedis(t *testing.T) {
	announce(t, [][2]string{
		{"sadd s 1 2 3", "new s, sadd s"},
		{"sadd s 1", ""},
		{"smove s t 1", "srem s, new t, sadd t"},
		{"smove s s 2", ""},
		{"srem s 2", "srem s"},
		{"srem s 3", "srem s, del s"},
		{"sunionstore u t", "new u, sunionstore u"},
		{"sinterstore u t none", "del u"},
		{"sinterstore u t none", ""},
		{"sadd t 4 5", "sadd t"},
		{"spop t 0", ""},
		{"spop t 1", "spop t"},
		{"spop t", "spop t"},
		{"spop t 5", "spop t, del t"},
	})
}

func TestInPlaceWritesKeepTheDeadlineAndReplacementsDropIt(t *testing.T) {
	for command, keeps := range map[string]bool{
		"append s x": true, "setrange s 0 1": true, "incr s": true, "decrby s 2": true, "incrbyfloat s 1": true,
		"set s 1 keepttl": true, "set s 1 xx keepttl": true,
		"set s 1": false, "getset s 1": false, "mset s 1": false, "getex s persist": false,
		"hset h f 1": true, "hsetnx h g 1": true, "hincrby h f 1": true, "hincrbyfloat h f 1": true, "hdel h f": true,
		"sadd e x": true, "srem e 1": true, "spop e": true, "spop e 2": true, "smove e o 1": true,
		"sunionstore e e": false, "sinterstore e e": false, "sdiffstore e e none": false,
	} {
		h := newHarness(t)
		h.run("set s 1")
		h.run("hset h f 1 k 2")
		h.run("sadd e 1 2 3 4")
		for _, key := range []string{"s", "h", "e"} {
			h.ctx.DB.SetDeadline(h.ctx.DB.Peek([]byte(key)), 2_000_000)
		}
		if reply := h.run(command); reply.IsError() {
			t.Errorf("%s fails: %s", command, reply.Text())
		}
		kept := 0
		for _, key := range []string{"s", "h", "e"} {
			if h.ctx.DB.Peek([]byte(key)).HasDeadline() {
				kept++
			}
		}
		if (kept == 3) != keeps {
			t.Errorf("after %s %d of 3 deadlines are left", command, kept)
		}
	}
}

type silence struct{ Events }

func (silence) Notify(Class, string, int, string) {}

func TestHotCommandsAllocateOnlyWhatTheyStoreOrReturn(t *testing.T) {
	h := newHarness(t)
	h.ctx.Events = silence{}
	h.run("set s some-text")
	h.run("set i 5")
	h.run("hset h uuid:1 1 uuid:2 1")
	h.run("sadd e 1 2 3")
	for _, c := range []struct {
		words []string
		max   float64
	}{
		{[]string{"get", "s"}, 0},
		{[]string{"set", "s", "some-text"}, 2},
		{[]string{"incr", "i"}, 0},
		{[]string{"hget", "h", "uuid:1"}, 0},
		{[]string{"hset", "h", "uuid:1", "1"}, 0},
		{[]string{"hexists", "h", "uuid:1"}, 0},
		{[]string{"hincrby", "h", "uuid:1", "1"}, 0},
		{[]string{"hdel", "h", "none"}, 0},
		{[]string{"hgetall", "h"}, 1},
		{[]string{"sismember", "e", "1"}, 0},
		{[]string{"sadd", "e", "1"}, 0},
	} {
		args := make(resp.Args, len(c.words))
		for i, word := range c.words {
			args[i] = []byte(word)
		}
		h.ctx.Cmd = h.ctx.Table.Find(args)
		if n := testing.AllocsPerRun(100, func() { h.ctx.Cmd.Run(&h.ctx, args) }); n > c.max {
			t.Errorf("%v allocates %v times, want %v at most", c.words, n, c.max)
		}
	}
}
