package engine

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/lockredis/lockredis/expiry"
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/inspect"
	"github.com/lockredis/lockredis/resp"
)

// newRecorded is newInspected with the clock.
func newRecorded(t *testing.T) (*Engine, *expiry.Manual) {
	e := newInspected(t)
	return e, e.clock.(*expiry.Manual)
}

// recorded returns how many keys the record has.
func recorded(e *Engine) int {
	type key struct {
		db   int
		name string
	}
	keys := map[key]bool{}
	e.Outside(func() {
		e.record.ScriptKeys(func(k inspect.ScriptKey) { keys[key{k.DB, k.Key}] = true })
		e.record.NewStrings(func(s inspect.NewString) { keys[key{s.DB, s.Key}] = true })
	})
	return len(keys)
}

const acquireFor = `redis.call('hincrby', KEYS[1], ARGV[1], 1)
	redis.call('pexpire', KEYS[1], ARGV[2])`

func TestTheRecordGoesWithItsKeys(t *testing.T) {
	e, clock := newRecorded(t)
	s, _ := connect(e)
	acquire := func(name string) { send(e, s, "EVAL", acquireFor, "1", name, owner, "30000") }
	for name, end := range map[string]func(){
		"DEL":      func() { send(e, s, "DEL", "a", "b") },
		"UNLINK":   func() { send(e, s, "UNLINK", "a", "b") },
		"a script": func() { send(e, s, "EVAL", "redis.call('del', KEYS[1], KEYS[2])", "2", "a", "b") },
		"HDEL": func() {
			send(e, s, "HDEL", "a", owner)
			send(e, s, "EVAL", "redis.call('hdel', KEYS[1], ARGV[1])", "1", "b", owner)
		},
		"FLUSHALL": func() { send(e, s, "FLUSHALL") },
		"FLUSHDB":  func() { send(e, s, "FLUSHDB", "ASYNC") },
		"flush in a script": func() {
			send(e, s, "EVAL", "redis.call('flushall')", "0")
		},
		"swap": func() {
			send(e, s, "SWAPDB", "0", "5")
			send(e, s, "FLUSHDB") // the other one
			if n := recorded(e); n != 2 {
				t.Errorf("the record has %d keys after SWAPDB", n)
			}
			send(e, s, "SELECT", "5")
			send(e, s, "DEL", "a", "b")
			send(e, s, "SELECT", "0")
		},
		"rename": func() {
			send(e, s, "RENAME", "a", "b")
			send(e, s, "RENAME", "b", "c")
			send(e, s, "SET", "data", "1")
			send(e, s, "RENAME", "data", "c")
		},
		"move": func() {
			send(e, s, "MOVE", "a", "3")
			send(e, s, "DEL", "b")
			send(e, s, "SELECT", "3")
			send(e, s, "DEL", "a")
			send(e, s, "SELECT", "0")
		},
		"EXEC": func() {
			send(e, s, "MULTI")
			send(e, s, "RENAME", "a", "b")
			send(e, s, "DEL", "b")
			send(e, s, "EXEC")
		},
		"the timer": func() {
			e.Outside(func() {
				clock.Set(clock.Now().Add(time.Minute))
				e.EndDue()
			})
		},
		"access": func() {
			send(e, s, "DEBUG", "SET-ACTIVE-EXPIRE", "0")
			e.Outside(func() { e.timer.SetActive(false) })
			clock.Set(clock.Now().Add(time.Minute))
			send(e, s, "EXISTS", "a", "b")
			e.Outside(func() { e.timer.SetActive(true) })
		},
		"a pause": func() { // keeps expired keys
			send(e, s, "CLIENT", "PAUSE", "60000", "WRITE")
			clock.Set(clock.Now().Add(50 * time.Second))
			send(e, s, "EXISTS", "a", "b")
			send(e, s, "CLIENT", "UNPAUSE")
			send(e, s, "EXISTS", "a", "b")
		},
		"restart": func() { e.Kit().Restart(false); s, _ = connect(e) },
	} {
		acquire("a")
		acquire("b")
		if n := recorded(e); n != 2 {
			t.Fatalf("%s: the record has %d keys", name, n)
		}
		if end(); recorded(e) != 0 {
			t.Errorf("%s: the record has %d keys, want none", name, recorded(e))
		}
		send(e, s, "FLUSHALL")
	}
}

// Many keys come and go. In between there are never more than two hundred.
func TestTheRecordIsBoundedByTheLiveKeys(t *testing.T) {
	const keys, alive = 20_000, 100
	e, _ := newRecorded(t)
	s, p := connect(e)
	const fill = `for i = tonumber(ARGV[1]), tonumber(ARGV[1]) + 99 do
		redis.call('hincrby', 'lock:' .. i, ARGV[2], 1)
		redis.call('set', 'token:' .. i, ARGV[3], 'NX', 'PX', 10000)
	end`
	const empty = `for i = tonumber(ARGV[1]), tonumber(ARGV[1]) + 99 do
		redis.call('del', 'lock:' .. i, 'token:' .. i)
	end`
	for i := 0; i < keys; i += alive {
		first := fmt.Sprint(i)
		send(e, s, "EVAL", fill, "0", first, owner, "6f1c1a2e-54b7-4f7c-9d4a-0c2f6a8e3b11")
		if i == 0 && recorded(e) != 2*alive {
			t.Fatalf("the record has %d keys", recorded(e))
		}
		send(e, s, "EVAL", empty, "0", first)
		p.take()
	}
	if n := recorded(e); n != 0 {
		t.Fatalf("the record has %d keys after %d have gone", n, keys)
	}
}

func TestTheRecordOfOneKeyIsBounded(t *testing.T) {
	e, _ := newRecorded(t)
	s, p := connect(e)
	const keys = 5000
	for i := range keys {
		id := fmt.Sprintf("6f1c1a2e-54b7-4f7c-9d4a-0c2f6a8e3b11:%d", i)
		latch := fmt.Sprintf("redisson_unlock_latch:{a}:%032d", i)
		send(e, s, "EVAL", "for _, id in ipairs({ARGV[1], 'x:1'}) do"+
			" redis.call('hincrby', KEYS[1], id, 1) end redis.call('hdel', KEYS[1], ARGV[1])",
			"2", "a", latch, id)
		// Redisson removes the expired permits by score.
		send(e, s, "EVAL", "redis.call('zremrangebyscore', KEYS[2], 0, ARGV[1])"+
			" redis.call('zadd', KEYS[2], ARGV[1], ARGV[2])", "3", "p", "{p}:timeout", "redisson_sc:{p}",
			fmt.Sprint(i), id)
		send(e, s, "EVAL", "redis.call('ltrim', KEYS[1], 1, 0) redis.call('rpush', KEYS[1], ARGV[1])",
			"1", "redisson_lock_queue:{f}", id)
		p.take()
	}
	e.Outside(func() {
		e.record.ScriptKeys(func(k inspect.ScriptKey) {
			if n := k.Entries.Len(); n > 20 {
				t.Errorf("%s: %d owners are recorded, want one", k.Key, n)
			}
		})
	})
	if n := recorded(e); n != 3 {
		t.Errorf("the record has %d keys, want 3", n)
	}
}

func TestAnOwnerHoldsSinceItsFirstAcquisitionByTheClientOfItsLast(t *testing.T) {
	e, clock := newRecorded(t)
	first, _ := connect(e)
	second, _ := connect(e)
	hold := func(s *command.Session) { send(e, s, "EVAL", acquire, "1", "a", owner) }
	expect := func(since time.Duration, by *command.Session) {
		t.Helper()
		h := e.Inspector().Look().Locks[0].Holders[0]
		if want := epoch.Add(since).UnixMilli(); h.Since != want || h.By.ID != by.ID {
			t.Errorf("since %d by client %d, want %d by %d", h.Since, h.By.ID, want, by.ID)
		}
	}
	hold(first)
	clock.Set(epoch.Add(time.Second))
	hold(second)
	expect(0, second)
	send(e, first, "EVAL", "redis.call('hincrby', KEYS[1], ARGV[1], -1)", "1", "a", owner)
	expect(0, second)
	send(e, first, "HSET", "a", "other", "1") // keeps the key
	send(e, first, "HDEL", "a", owner)
	send(e, first, "EVAL", acquire, "1", "a", owner)
	send(e, first, "HDEL", "a", "other")
	expect(time.Second, first)
	send(e, first, "RENAME", "a", "b")
	send(e, first, "MOVE", "b", "9")
	expect(time.Second, first)
}

// Commands in any order leave a record that fits the keys. The seed is fixed, so a failure can be
// repeated.
func TestTheRecordFitsTheKeysAfterAnyCommands(t *testing.T) {
	e, clock := newRecorded(t)
	s, p := connect(e)
	rnd := rand.New(rand.NewPCG(11, 1))
	key := func() string { return string(rune('a' + rnd.IntN(4))) }
	db := func() string { return fmt.Sprint(rnd.IntN(3)) }
	script := func(body string) []string { return []string{"EVAL", body, "2", key(), key(), owner} }
	for i := range 20_000 {
		var line []string
		switch rnd.IntN(22) {
		case 0, 1, 2:
			line = script("return redis.call('hincrby', KEYS[1], ARGV[1], 1)")
		case 3:
			line = script("return redis.call('pexpire', KEYS[1], 500)")
		case 4:
			line = script("redis.pcall('rename', KEYS[1], KEYS[2]) return redis.pcall('get', KEYS[1])")
		case 5:
			line = script("redis.call('del', KEYS[1]) return redis.call('hset', KEYS[1], ARGV[1], 1)")
		case 6:
			line = script("return redis.call('copy', KEYS[1], KEYS[2], 'replace')")
		case 7:
			line = script("redis.call('select', 2) return redis.pcall('hincrby', KEYS[2], ARGV[1], 1)")
		case 8:
			line = script("redis.call('flushdb') return redis.call('hset', KEYS[1], ARGV[1], 1)")
		case 9:
			line = []string{"SET", key(), owner[:36], "NX", "PX", "300"}
		case 10:
			line = []string{"RENAME", key(), key()}
		case 11:
			line = []string{"RENAMENX", key(), key()}
		case 12:
			line = []string{"MOVE", key(), db()}
		case 13:
			line = []string{"COPY", key(), key(), "DB", db(), "REPLACE"}
		case 14:
			line = []string{"SWAPDB", db(), db()}
		case 15:
			line = []string{"SELECT", db()}
		case 16:
			line = []string{"DEL", key(), key()}
		case 17:
			line = []string{"HSET", key(), owner, "1"}
		case 18:
			line = []string{[]string{"MULTI", "EXEC", "DISCARD"}[rnd.IntN(3)]}
		case 19:
			line = []string{[]string{"FLUSHDB", "FLUSHALL"}[rnd.IntN(2)]}
		case 20:
			clock.Set(clock.Now().Add(time.Duration(rnd.IntN(400)) * time.Millisecond))
			line = []string{"DBSIZE"}
		default:
			line = []string{"SET", key(), "data"}
		}
		send(e, s, line...)
		p.take()
		var err error
		if e.Outside(func() { err = e.record.Check() }); err != nil {
			t.Fatalf("command %d, %q: %v", i, line, err)
		}
	}
}

// While CLIENT PAUSE keeps an expired lock, the test kit's command makes another key of its name.
func TestAKeyInThePlaceOfAnExpiredLockIsNoLock(t *testing.T) {
	e, clock := newRecorded(t)
	s, _ := connect(e)
	send(e, s, "EVAL", acquireFor, "1", "a", owner, "1000")
	send(e, s, "CLIENT", "PAUSE", "60000", "WRITE")
	clock.Set(clock.Now().Add(2 * time.Second))
	e.RunDirect(0, words("HSET", "a", owner, "1"), func(resp.Reply) {})
	if got := e.Inspector().Look().Locks; len(got) != 0 || recorded(e) != 0 {
		t.Errorf("%d keys are recorded, the locks are %+v", recorded(e), got)
	}
	e.Outside(func() {
		if err := e.Check(); err != nil {
			t.Error(err)
		}
	})
}

func TestARenameByAScriptMakesNoLock(t *testing.T) {
	e, _ := newRecorded(t)
	s, _ := connect(e)
	send(e, s, "HSET", "data", owner, "1")
	send(e, s, "EVAL", "redis.call('rename', KEYS[1], KEYS[2])", "2", "data", "a")
	if got := e.Inspector().Look().Locks; len(got) != 0 {
		t.Error(got)
	}
}

func TestWithoutARequestNothingIsRecorded(t *testing.T) {
	e, _ := newClocked(t)
	s, _ := connect(e)
	send(e, s, "EVAL", acquire, "1", "a", owner)
	send(e, s, "SUBSCRIBE", "redisson_lock__channel:{a}")
	if e.record != nil || e.journal.IsRead() || s.Subs.Since(0, "redisson_lock__channel:{a}") != 0 {
		t.Error("something is recorded")
	}
	if _, ok := (inspection{e}).ScriptKey(0, "a"); ok {
		t.Error("the key is known")
	}
}

// A replica that has left takes nothing away from the record.
func TestTheRecordOutlivesAFollower(t *testing.T) {
	e, _ := newRecorded(t)
	s, _ := connect(e)
	e.Follow(func(int, resp.Args) {})()
	send(e, s, "EVAL", acquire, "1", "a", owner)
	locks := e.Inspector().Look().Locks
	if len(locks) != 1 || len(locks[0].Holders) != 1 || locks[0].Holders[0].Since == 0 {
		t.Error(locks)
	}
}

// A lock that comes and goes costs the record no memory: it uses the memory of earlier keys.
func TestTheRecordOfALockAllocatesNothing(t *testing.T) {
	pair := func(e *Engine) float64 {
		t.Cleanup(e.Close)
		s, _ := newTestSession(e)
		lock, unlock := words("EVAL", acquireFor, "1", "a", owner, "30000"), words("DEL", "a")
		var caller Caller
		unit := func() {
			e.Execute(s, lock)
			e.Execute(s, unlock)
		}
		return testing.AllocsPerRun(200, func() { e.Do(&caller, unit) })
	}
	without := pair(newTestEngine(expiry.NewManual(epoch)))
	e := newTestEngine(expiry.NewManual(epoch))
	e.RecordScriptKeys()
	if with := pair(e); with > without {
		t.Errorf("a lock pair allocates %v times with the record, %v times without", with, without)
	}
}
