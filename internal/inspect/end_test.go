package inspect_test

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lockredis/lockredis/internal/backdoor"
	"github.com/lockredis/lockredis/internal/inspect"
	"github.com/lockredis/lockredis/resp"
)

const nothing = `{"ended": [], "woken": 0}`

func TestEndEndsALeaseAsItsDeadlineWould(t *testing.T) {
	s := startWith(t, map[string]string{"enable-lock-commands": "yes", "notify-keyspace-events": "KA"})
	events := s.subscribed("PSUBSCRIBE", "__keyspace@0__:*")
	waiter := s.subscribed("SUBSCRIBE", "redisson_lock__channel:{x}")
	c, watcher := s.connect(), s.connect()
	ask(t, c, "HELLO 3")
	s.lock(0, "x", alice, 60000, "")
	message(t, events) // hincrby
	message(t, events) // expire
	expectReplies(t, watcher, "WATCH x", `"OK"`, "MULTI", `"OK"`)
	expectReplies(t, c,
		"LOCK.END x "+bob, nothing,
		"LOCK.END none", nothing,
		"LOCK.END x "+alice, `{"ended": ["`+alice+`"], "woken": 1}`,
		"LOCK.END x", nothing,
		"EXISTS x", "0",
		"LOCK.LIST y", "[]")
	if got := message(t, events); !strings.HasSuffix(got, "__:x expired") {
		t.Errorf("%q", got)
	}
	if got := message(t, waiter); got != "message redisson_lock__channel:{x} 0" {
		t.Errorf("%q", got)
	}
	expectReplies(t, watcher, "EXEC", "nil")
}

func TestEndOfAReaderLeavesTheOthers(t *testing.T) {
	s := start(t)
	waiter := s.subscribed("SUBSCRIBE", "redisson_rwlock:{x}")
	c := s.connect()
	ask(t, c, "HELLO 3")
	read := func(owner string, lease string) {
		s.do(0, "EVAL", `redis.call('hset', KEYS[1], 'mode', 'read')
			local n = redis.call('hincrby', KEYS[1], ARGV[1], 1)
			local key = '{x}:' .. ARGV[1] .. ':rwlock_timeout:' .. n
			redis.call('set', key, 1, 'px', ARGV[2])
			redis.call('pexpire', KEYS[1], math.max(ARGV[2], redis.call('pttl', KEYS[1])))`, "1", "x", owner, lease)
	}
	read(alice, "60000")
	read(alice, "50000")
	read(bob, "10000")
	expectReplies(t, c,
		"LOCK.END x "+alice, `{"ended": ["`+alice+`"], "woken": 0}`,
		"HKEYS x", `["mode", "`+bob+`"]`,
		"PTTL x", "10000",
		"KEYS *rwlock*", `["{x}:`+bob+`:rwlock_timeout:1"]`,
		"LOCK.END x", `{"ended": ["`+bob+`"], "woken": 1}`,
		"DBSIZE", "0")
	if got := message(t, waiter); got != "message redisson_rwlock:{x} 0" {
		t.Errorf("%q", got)
	}
}

func TestEndKnowsEachKindOfLock(t *testing.T) {
	s := start(t)
	c := s.connect()
	ask(t, c, "HELLO 3")
	s.lock(0, "write", alice+":write", 1000, "write")
	s.lock(0, "write", alice, 1000, "write")
	writer := s.subscribed("SUBSCRIBE", "redisson_rwlock:{write}")
	s.lock(0, "fair", alice, 1000, "", "redisson_lock_queue:{fair}")
	s.do(0, "RPUSH", "redisson_lock_queue:{fair}", bob)
	next := s.subscribed("SUBSCRIBE", "redisson_lock__channel:{fair}:"+bob)
	s.do(0, "EVAL", `redis.call('set', KEYS[1], 0)
		redis.call('zadd', KEYS[2], ARGV[1], '0123456789abcdef', 922337203685477, 'fedcba9876543210')`,
		"3", "sem", "{sem}:timeout", "redisson_sc:{sem}", strconv.FormatInt(epoch.UnixMilli()+1000, 10))
	acquirer := s.subscribed("SUBSCRIBE", "redisson_sc:{sem}")
	ask(t, c, "SET token 6f1c1a2e-54b7-4f7c-9d4a-0c2f6a8e3b11 NX PX 5000")
	group := func(value, owner string) {
		s.do(0, "EVAL", `redis.call('hset', KEYS[1], ARGV[1], ARGV[2], ARGV[1] .. ':' .. ARGV[2] .. ':lock_count', 1,
			ARGV[1] .. ':' .. ARGV[2] .. ':expire_time', ARGV[3]); redis.call('pexpire', KEYS[1], 5000)`,
			"1", "group", value, owner, strconv.FormatInt(epoch.UnixMilli()+5000, 10))
	}
	group("1", alice)
	group("2", bob)
	group("3", alice)
	grouped := s.subscribed("SUBSCRIBE", "redisson_lock__channel:{group}")
	const first = "30313233343536373839616263646566"
	expectReplies(t, c,
		"LOCK.END write", `{"ended": ["`+alice+`"], "woken": 1}`,
		"LOCK.END fair", `{"ended": ["`+alice+`"], "woken": 1}`,
		"LRANGE redisson_lock_queue:{fair} 0 -1", `["`+bob+`"]`,
		"LOCK.END sem "+first, `{"ended": ["`+first+`"], "woken": 1}`,
		"ZRANGE {sem}:timeout 0 0 WITHSCORES", `[["0123456789abcdef", "1700000000000"]]`,
		"LOCK.END sem "+first, nothing,
		"LOCK.END token", `{"ended": ["6f1c1a2e-54b7-4f7c-9d4a-0c2f6a8e3b11"], "woken": 0}`,
		"EXISTS token write fair", "0",
		"LOCK.END group "+alice, `{"ended": ["`+alice+`"], "woken": 1}`,
		"HGET group 2", `"`+bob+`"`,
		"HLEN group", "3",
		"LOCK.END group", `{"ended": ["`+bob+`"], "woken": 1}`,
		"EXISTS group", "0",
		"MULTI", `"OK"`, "LOCK.END sem", `"QUEUED"`, "EXEC", `[{"ended": ["66656463626139383736353433323130"], "woken": 1}]`)
	for _, m := range []struct{ got, want string }{
		{message(t, writer), "redisson_rwlock:{write} 1"},
		{message(t, next), "redisson_lock__channel:{fair}:" + bob + " 0"},
		{message(t, acquirer), "redisson_sc:{sem} 1"},
		{message(t, acquirer), "redisson_sc:{sem} 2"},
		{message(t, grouped), "redisson_lock__channel:{group} 0"},
		{message(t, grouped), "redisson_lock__channel:{group} 0"},
	} {
		if m.got != "message "+m.want {
			t.Errorf("%q, want %q", m.got, m.want)
		}
	}
}

func TestOthersAreToldOfAnEndInRedissCommands(t *testing.T) {
	var told []string
	s := startPrepared(t, map[string]string{"enable-lock-commands": "yes"}, func(inside backdoor.Inside) {
		inside.Follow(func(_ int, line resp.Args) { told = append(told, string(bytes.Join(line, []byte(" ")))) })
	})
	s.lock(0, "a", alice, 1000, "")
	s.lock(0, "rw", alice, 3000, "read")
	s.lock(0, "rw", bob, 3000, "read")
	s.do(0, "EVAL", `redis.call('set', KEYS[1], 0)
		redis.call('zadd', KEYS[2], ARGV[1], '0123456789abcdef')`,
		"3", "sem", "{sem}:timeout", "redisson_sc:{sem}", strconv.FormatInt(epoch.UnixMilli()+1000, 10))
	c := s.connect()
	ask(t, c, "SET {rw}:"+bob+":rwlock_timeout:1 1 PX 2000")
	s.Inspector.Enter(func(inspect.View) { told = nil })
	for _, line := range []string{"LOCK.END none", "LOCK.END a", "LOCK.END rw " + alice, "LOCK.END sem", "LOCK.AWAIT a FREE"} {
		ask(t, c, line)
	}
	want := []string{
		"DEL a",
		"MULTI", "HDEL rw " + alice, "PEXPIREAT rw 1700000002000", "EXEC",
		"ZADD {sem}:timeout 1700000000000 0123456789abcdef",
	}
	s.Inspector.Enter(func(inspect.View) {
		if !slices.Equal(told, want) {
			t.Errorf("%q\nwant\n%q", told, want)
		}
	})
}
