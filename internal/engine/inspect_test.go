package engine

import (
	"reflect"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis/expiry"
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/internal/inspect"
	"github.com/lockredis/lockredis/internal/record"
	"github.com/lockredis/lockredis/resp"
)

// runKit runs a command without a connection and returns the encoded reply.
func runKit(e *Engine, db int, list ...string) (encoded string) {
	e.RunDirect(db, words(list...), func(r resp.Reply) { encoded = string(resp.Append(nil, r, 2)) })
	return encoded
}

func TestACommandNeedsNoConnection(t *testing.T) {
	e, _ := newClocked(t)
	expectReply(t, runKit(e, 3, "SET", "k", "v"), "+OK\r\n")
	expectReply(t, runKit(e, 3, "GET", "k"), "$1\r\nv\r\n")
	expectReply(t, runKit(e, 0, "GET", "k"), "$-1\r\n")
	expectReply(t, runKit(e, 0, "BLPOP", "k", "0"), "*-1\r\n")
	expectReply(t, runKit(e, 0, "SET", "k"), "-ERR wrong number of arguments for 'set' command\r\n")
	expectReply(t, runKit(e, 0, "NOPE"), "-ERR unknown command 'NOPE', with args beginning with: \r\n")
}

func TestACommandAboutItsConnectionNeedsOne(t *testing.T) {
	e, _ := newClocked(t)
	for _, list := range []string{
		"MULTI", "EXEC", "WATCH k", "SUBSCRIBE c", "UNSUBSCRIBE", "AUTH x", "HELLO", "RESET", "QUIT",
		"CLIENT REPLY OFF",
	} {
		got := runKit(e, 0, strings.Fields(list)...)
		if !strings.HasSuffix(got, "needs a connection\r\n") {
			t.Errorf("%s: %q", list, got)
		}
	}
	for list, want := range map[string]string{
		"PING": "+PONG\r\n", "PUBLISH c m": ":0\r\n", "CLIENT UNPAUSE": "+OK\r\n",
	} {
		expectReply(t, runKit(e, 0, strings.Fields(list)...), want)
	}
}

func TestADirectCommandServesWaiters(t *testing.T) {
	e, _ := newClocked(t)
	s, p := connect(e)
	send(e, s, "BLPOP", "q", "0")
	expectReply(t, runKit(e, 0, "RPUSH", "q", "x"), ":1\r\n")
	expectReply(t, p.take(), "*2\r\n$1\r\nq\r\n$1\r\nx\r\n")
}

// scriptKeysOf returns the keys that scripts wrote, with their client's name.
func scriptKeysOf(e *Engine) (keys []string) {
	e.Outside(func() {
		inspection{e}.ScriptKeys(func(k inspect.ScriptKey) { keys = append(keys, k.Key+" "+k.By.Name) })
	})
	sort.Strings(keys)
	return keys
}

func TestTheKeysThatScriptsWriteAreRecordedOnRequest(t *testing.T) {
	e := newInspected(t)
	s, _ := connect(e)
	send(e, s, "CLIENT", "SETNAME", "orders")
	send(e, s, "HSET", "plain", "f", "v")
	const readAndWrite = "redis.call('get', KEYS[1]) return redis.call('hset', KEYS[2], 'f', 1)"
	send(e, s, "EVAL", readAndWrite, "3", "read", "written", "redisson_lock_queue:{written}")
	send(e, s, "EVAL", "return redis.call('hset', 'undeclared', 'f', 1)", "0")
	want := []string{"undeclared orders", "written orders"}
	if got := scriptKeysOf(e); !reflect.DeepEqual(got, want) {
		t.Fatalf("%q, want %q", got, want)
	}
	send(e, s, "EVAL", "return redis.call('pexpire', KEYS[1], 100000)", "1", "written")
	e.Outside(func() {
		inspection{e}.ScriptKeys(func(k inspect.ScriptKey) {
			if k.Key == "written" && !k.Hints.Fair {
				t.Error("the queue that a script named is forgotten")
			}
		})
	})
	send(e, s, "DEL", "written")
	send(e, s, "HSET", "written", "f", "v")
	if got, want := scriptKeysOf(e), []string{"undeclared orders"}; !reflect.DeepEqual(got, want) {
		t.Fatalf("%q, want %q", got, want)
	}
}

// A clock that is moved from deadline to deadline must not pass what the timer has to do.
func TestTheNextDeadlineIsThatOfTheFirstSource(t *testing.T) {
	e, clock := newClocked(t)
	s, _ := connect(e)
	expect := func(ms int64) {
		t.Helper()
		e.Outside(func() {
			at, ok := e.NextDeadline()
			if ms == 0 && ok || ms > 0 && at != epoch.UnixMilli()+ms {
				t.Errorf("next is %d, %v; want %d", at-epoch.UnixMilli(), ok, ms)
			}
		})
	}
	expect(0)
	send(e, s, "SET", "k", "v", "PX", "3000")
	expect(3000)
	send(e, s, "BLPOP", "q", "2")
	expect(2000)
	runKit(e, 0, "CLIENT", "PAUSE", "1000")
	expect(1000)
	e.Outside(func() {
		clock.Set(epoch.Add(2 * time.Second))
		e.EndDue()
	})
	expect(3000)
	e.env.Config.RDB.Program, e.env.LastSave = true, epoch.Unix()
	send(e, s, "CONFIG", "SET", "save", "60 1")
	expect(3000)
	e.Outside(func() { e.timer.SetActive(false) })
	expect(61_000)
	e.Outside(func() {
		e.timer.SetActive(true)
		e.timer.PauseCron(true)
	})
	expect(0)
	send(e, s, "CONFIG", "SET", "maxmemory-policy", "allkeys-lru", "maxmemory", "1")
	expect(2000) // now
}

// Each step makes a source due earlier than it was, and another source may be due later.
func TestTheTimerIsArmedWhenASourceIsDueEarlier(t *testing.T) {
	clock := expiry.NewManual(epoch)
	e := newTestEngine(clock) // its timer does not run
	t.Cleanup(e.Close)
	s, _ := connect(e)
	set := func(pairs ...string) { send(e, s, append([]string{"CONFIG", "SET"}, pairs...)...) }
	e.env.LastSave = epoch.Unix()
	e.env.Config.ProtectedConfigs = config.AccessYes
	send(e, s, "SET", "later", "v", "PX", "9000000")
	for _, step := range []struct {
		name string
		do   func()
		ms   int64 // the timer is armed for so long after epoch
	}{
		{"a key", func() { send(e, s, "SET", "k", "v", "PX", "8000000") }, 8_000_000},
		{"an earlier key", func() { send(e, s, "PEXPIRE", "k", "7000000") }, 7_000_000},
		{"a save point without a file", func() { set("save", "6500 1") }, 7_000_000},
		{"a file", func() { set("dbfilename", "other.rdb") }, 6_501_000},
		{"a save point after more changes", func() { set("save", "6500 1 6000 9") }, 6_501_000},
		{"changes", func() { send(e, s, "RPUSH", "l", "1", "2", "3", "4", "5", "6") }, 6_001_000},
		{"a nearer save point", func() { set("save", "5000 9") }, 5_001_000},
		{"a wait", func() { send(e, s, "BLPOP", "q", "4000") }, 4_000_000},
		{"a pause", func() { runKit(e, 0, "CLIENT", "PAUSE", "3000000") }, 3_000_000},
	} {
		step.do()
		e.Outside(func() {
			if got := e.timer.armed - epoch.UnixMilli(); got != step.ms {
				t.Errorf("%s: the timer is armed for %d, want %d", step.name, got, step.ms)
			}
			if err := e.Check(); err != nil {
				t.Errorf("%s: %v", step.name, err)
			}
		})
	}
}

// newInspected returns a running engine that records script keys.
func newInspected(t *testing.T) *Engine {
	e := newTestEngine(expiry.NewManual(epoch))
	e.RecordScriptKeys()
	e.Start()
	t.Cleanup(e.Close)
	return e
}

const owner = "6f1c1a2e-54b7-4f7c-9d4a-0c2f6a8e3b11:17"

const acquire = "return redis.call('hincrby', KEYS[1], ARGV[1], 1)"

func TestTheInspectorLooksFromOutsideAndFromInsideACommand(t *testing.T) {
	e := newInspected(t)
	s, _ := connect(e)
	send(e, s, "CLIENT", "SETNAME", "orders")
	send(e, s, "EVAL", acquire, "1", "a", owner)
	outside := e.Inspector().Look()
	if len(outside.Locks) != 1 || outside.Locks[0].Holders[0].Owner != owner {
		t.Fatalf("%+v", outside)
	}
	var inside []inspect.Lock
	e.Outside(func() { // the row is the engine's
		e.env.Table.Own()
		e.env.Table.Find(words("PING")).Run = func(*command.Ctx, resp.Args) resp.Reply {
			inside = e.Inspector().Inside().Locks()
			return resp.OK
		}
	})
	send(e, s, "PING")
	if !reflect.DeepEqual(inside, outside.Locks) {
		t.Fatalf("%+v inside, %+v outside", inside, outside.Locks)
	}
	if got := inside[0].Writer; got.Name != "orders" || got.ID != s.ID {
		t.Fatalf("written by %+v", got)
	}
}

func TestTheInspectorShowsClientsThatWaitOrListen(t *testing.T) {
	e := newInspected(t)
	waiter, _ := connect(e)
	listener, _ := connect(e)
	idle, _ := connect(e)
	send(e, waiter, "BLPOP", "q", "r", "0")
	send(e, listener, "SUBSCRIBE", "redisson_lock__channel:{a}")
	send(e, listener, "PSUBSCRIBE", "n*")
	send(e, listener, "SSUBSCRIBE", "shard")
	send(e, idle, "EVAL", acquire, "1", "a", owner)
	seen := e.Inspector().Look()
	topic := func(name string) []inspect.Topic {
		return []inspect.Topic{{Name: name, Since: epoch.UnixMilli()}}
	}
	want := []inspect.Client{
		{Origin: record.Origin(waiter), Wait: &inspect.Wait{
			Command: "blpop", Keys: []string{"q", "r"}, Since: epoch.UnixMilli(),
		}},
		{
			Origin: record.Origin(listener), Channels: topic("redisson_lock__channel:{a}"),
			Patterns: topic("n*"), ShardChannels: topic("shard"),
		},
	}
	if !reflect.DeepEqual(seen.Clients, want) {
		t.Fatalf("%+v\nwant %+v", seen.Clients, want)
	}
}

func TestTheInspectorShowsNoHoldersUnlessScriptKeysAreRecorded(t *testing.T) {
	e, _ := newClocked(t)
	s, _ := connect(e)
	send(e, s, "EVAL", acquire, "1", "a", owner)
	if got := e.Inspector().Look(); len(got.Locks) != 0 {
		t.Fatalf("%+v", got.Locks)
	}
}
