package commands_test

import (
	"strings"
	"testing"

	"github.com/lockredis/lockredis/internal/command/commandtest"
)

func TestStringCommandsAnnounceAsRedis(t *testing.T) {
	commandtest.New(t).Check(`
		set k v => +OK => new k, set k
		set k v px 100 => +OK => set k, expire k
		set k v nx => $-1 => no events
		set k v exat 1 => +OK => set k, expire k
		get k => $-1 => expired k
		setex k 10 v => +OK => new k, set k, expire k
		getex k persist => $1 v => persist k
		getex k persist => $1 v => no events
		getex k ex 5 => $1 v => expire k
		getex k => $1 v => no events
		getex k pxat 1 => $1 v => del k
		append k v => :1 => new k, append k
		setrange k 0 v => :1 => setrange k
		setrange k 0 '' => :1 => no events
		getdel k => $1 v => del k
		incr k => :1 => new k, incrby k
		decr k => :0 => incrby k
		incrbyfloat k 1.5 => $3 1.5 => incrbyfloat k
		getset k v => $3 1.5 => set k
		mset k 1 n 2 => +OK => set k, new n, set n
		msetnx k 1 o 2 => :0 => no events
		setnx k v => :0 => no events
	`)
}

func TestHashCommandsAnnounceAsRedis(t *testing.T) {
	commandtest.New(t).Check(`
		hset h f v g w => :2 => new h, hset h
		hmset h f v => +OK => hset h
		hsetnx h f v => :0 => no events
		hsetnx h n 1 => :1 => hset h
		hincrby h n 1 => :2 => hincrby h
		hincrbyfloat h n 1 => $1 3 => hincrbyfloat h
		hincrby h f 1 => -ERR hash value is not an integer => no events
		hdel h none => :0 => no events
		hdel h f g => :2 => hdel h
		hdel h n => :1 => hdel h, del h
	`)
}

func TestSetCommandsAnnounceAsRedis(t *testing.T) {
	commandtest.New(t).Check(`
		sadd s 1 2 3 => :3 => new s, sadd s
		sadd s 1 => :0 => no events
		smove s t 1 => :1 => srem s, new t, sadd t
		smove s s 2 => :1 => no events
		srem s 2 => :1 => srem s
		srem s 3 => :1 => srem s, del s
		sunionstore u t => :1 => new u, sunionstore u
		sinterstore u t none => :0 => del u
		sinterstore u t none => :0 => no events
		sadd t 4 5 => :2 => sadd t
		spop t 0 => *0 => no events
		spop t 1 => any => spop t
		spop t => any => spop t
		spop t 5 => any => spop t, del t
	`)
}

func TestWritesInPlaceKeepTheDeadline(t *testing.T) {
	checkDeadlinesAfter(t, 3, `
		append s x
		setrange s 0 1
		incr s
		decrby s 2
		incrbyfloat s 1
		set s 1 keepttl
		set s 1 xx keepttl
		hset h f 1
		hsetnx h g 1
		hincrby h f 1
		hincrbyfloat h f 1
		hdel h f
		sadd e x
		srem e 1
		spop e
		spop e 2
		smove e o 1
	`)
}

func TestReplacingAValueRemovesTheDeadline(t *testing.T) {
	checkDeadlinesAfter(t, 2, `
		set s 1
		getset s 1
		mset s 1
		getex s persist
		sunionstore e e
		sinterstore e e
		sdiffstore e e none
	`)
}

// checkDeadlinesAfter runs each line of commands on three keys with deadlines (s a string,
// h a hash, e a set) and compares how many of them still have a deadline.
func checkDeadlinesAfter(t *testing.T, want int, commands string) {
	t.Helper()
	keys := []string{"s", "h", "e"}
	for command := range strings.Lines(strings.TrimSpace(commands)) {
		h := commandtest.New(t)
		h.Run("set s 1")
		h.Run("hset h f 1 k 2")
		h.Run("sadd e 1 2 3 4")
		for _, key := range keys {
			h.Ctx.DB.SetDeadline(h.Ctx.DB.Peek([]byte(key)), 2_000_000)
		}
		if reply := h.Run(command); reply.IsError() {
			t.Errorf("%s: %s", command, reply.Text())
		}
		got := 0
		for _, key := range keys {
			if h.Ctx.DB.Peek([]byte(key)).HasDeadline() {
				got++
			}
		}
		if got != want {
			t.Errorf("%s leaves %d of 3 deadlines, want %d", strings.TrimSpace(command), got, want)
		}
	}
}
