package inspect_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis/compat_test/wire"
)

// These scripts have the keys, arguments and replies of those of Redisson 3.52.0.
const (
	plainAcquire = `if ((redis.call('exists', KEYS[1]) == 0) or (redis.call('hexists', KEYS[1], ARGV[2]) == 1)) then
		redis.call('hincrby', KEYS[1], ARGV[2], 1); redis.call('pexpire', KEYS[1], ARGV[1]); return nil; end;
		return redis.call('pttl', KEYS[1]);`
	fencedAcquire = `if (redis.call('exists', KEYS[1]) == 0) then redis.call('incr', KEYS[2]);
		redis.call('hset', KEYS[1], ARGV[2], 1); redis.call('pexpire', KEYS[1], ARGV[1]);
		return {-1, redis.call('get', KEYS[2])}; end; return {redis.call('pttl', KEYS[1]), -1};`
	fairAcquire = `if (redis.call('exists', KEYS[1]) == 0) then redis.call('lrem', KEYS[2], 0, ARGV[2]);
		redis.call('zrem', KEYS[3], ARGV[2]); redis.call('hset', KEYS[1], ARGV[2], 1);
		redis.call('pexpire', KEYS[1], ARGV[1]); return nil; end;
		if redis.call('zadd', KEYS[3], ARGV[4] + ARGV[3], ARGV[2]) == 1 then redis.call('rpush', KEYS[2], ARGV[2]); end;
		return redis.call('pttl', KEYS[1]);`
	acquireFailed = `redis.call('lrem', KEYS[1], 0, ARGV[1]); redis.call('zrem', KEYS[2], ARGV[1]);`
	readAcquire   = `local mode = redis.call('hget', KEYS[1], 'mode'); if (mode == false) then
		redis.call('hset', KEYS[1], 'mode', 'read'); redis.call('hset', KEYS[1], ARGV[2], 1);
		redis.call('pexpire', KEYS[1], ARGV[1]); return nil; end; if (mode == 'read') then
		redis.call('hincrby', KEYS[1], ARGV[2], 1); return nil; end; return redis.call('pttl', KEYS[1]);`
	writeAcquire = `local mode = redis.call('hget', KEYS[1], 'mode'); if (mode == false) then
		redis.call('hset', KEYS[1], 'mode', 'write'); redis.call('hset', KEYS[1], ARGV[2], 1);
		redis.call('pexpire', KEYS[1], ARGV[1]); return nil; end; return redis.call('pttl', KEYS[1]);`
	plainRelease = `if (redis.call('hexists', KEYS[1], ARGV[3]) == 0) then return nil; end;
		redis.call('del', KEYS[1]); redis.call(ARGV[4], KEYS[2], ARGV[1]); return 1;`
	renew = `if (redis.call('hexists', KEYS[1], ARGV[2]) == 1) then redis.call('pexpire', KEYS[1], ARGV[1]);
		return 1; end; return 0;`
	permitAcquire = `local value = redis.call('get', KEYS[1]); if (value ~= false and tonumber(value) >= tonumber(ARGV[1])) then
		redis.call('decrby', KEYS[1], ARGV[1]); redis.call('zadd', KEYS[2], ARGV[2], ARGV[6]); return 'OK'; end; return nil;`
)

// asks is a script of a kind of lock named x, and the channel of its waiters.
type asksFor struct {
	kind, mode, script, channel string
	keys                        []string
	args                        func(owner string) []string
}

func kindsOfAsks() []asksFor {
	const fair = "redisson_lock_queue:{x} redisson_lock_timeout:{x}"
	of := func(form string) func(string) []string {
		return func(owner string) []string { return strings.Fields(strings.ReplaceAll(form, "OWNER", owner)) }
	}
	return []asksFor{
		{"lock", "", plainAcquire, "redisson_lock__channel:{x}", []string{"x"}, of("30000 OWNER")},
		{"fenced", "", fencedAcquire, "redisson_lock__channel:{x}", []string{"x", "redisson_lock_token:{x}"}, of("30000 OWNER")},
		{"fair", "", fairAcquire, "redisson_lock__channel:{x}:" + bob, strings.Fields("x " + fair), of("30000 OWNER 300000 1700000000000")},
		{"read-write", "read", readAcquire, "redisson_rwlock:{x}", []string{"x", "{x}:OWNER:rwlock_timeout"}, of("30000 OWNER OWNER:write")},
		{"read-write", "write", writeAcquire, "redisson_rwlock:{x}", []string{"x"}, of("30000 OWNER:write")},
	}
}

// ask has an owner ask for the lock x on a connection.
func (a asksFor) ask(t testing.TB, c *wire.Conn, owner string) wire.Value {
	t.Helper()
	line := append([]string{"EVAL", a.script, strconv.Itoa(len(a.keys))}, a.keys...)
	return do(t, c, append(line, a.args(owner)...)...)
}

func do(t testing.TB, c *wire.Conn, words ...string) wire.Value {
	t.Helper()
	v, err := c.Do(words...)
	if err != nil || v.IsError() {
		t.Fatal(words, v, err)
	}
	return v
}

// waiters returns the rows of LOCK.WAITERS on a connection of RESP2, with these fields.
func waiters(t testing.TB, c *wire.Conn, line string, fields ...string) string {
	t.Helper()
	return rowsOf(do(t, c, append([]string{"LOCK.WAITERS"}, strings.Fields(line)...)...), fields...)
}

func rowsOf(v wire.Value, fields ...string) string {
	var rows []string
	for _, row := range v.Elems {
		var words []string
		for _, field := range fields {
			for i := 0; i < len(row.Elems); i += 2 {
				if string(row.Elems[i].Str) == field {
					words = append(words, string(row.Elems[i+1].Str))
				}
			}
		}
		rows = append(rows, strings.Join(words, " "))
	}
	return strings.Join(rows, ", ")
}

func expectWaiters(t testing.TB, c *wire.Conn, want string) {
	t.Helper()
	if got := waiters(t, c, "x", "owner", "asks", "waits"); got != want {
		t.Errorf("%q wait, want %q", got, want)
	}
}

func TestAWaiterOfEachKindHasItsOwner(t *testing.T) {
	for _, a := range kindsOfAsks() {
		t.Run(a.kind+a.mode, func(t *testing.T) {
			s := start(t)
			holder, looks := s.connect(), s.connect()
			first := a
			if a.mode != "" { // a writer makes both wait
				first = kindsOfAsks()[4]
			}
			first.ask(t, holder, alice)
			expectWaiters(t, looks, "")
			asker := s.connect()
			do(t, asker, "CLIENT", "SETNAME", "orders")
			s.clock.Set(epoch.Add(300 * time.Millisecond))
			a.ask(t, asker, bob)
			expectWaiters(t, looks, bob+" 1 0")
			hears := s.subscribed("SUBSCRIBE", a.channel)
			expectWaiters(t, looks, bob+" 1 0")
			s.clock.Set(epoch.Add(600 * time.Millisecond))
			a.ask(t, asker, bob)
			const fields = "owner kind mode since asks waits client-name client-addr"
			want := strings.Join([]string{bob, a.kind, a.mode, "1700000000300", "2", "1", "orders", "pipe:3"}, " ")
			if got := waiters(t, looks, "x", strings.Fields(fields)...); got != want {
				t.Errorf("%q, want %q", got, want)
			}
			s.clock.Set(epoch.Add(20 * time.Second)) // it sleeps
			expectWaiters(t, looks, bob+" 2 1")

			do(t, holder, "DEL", "x")
			expectWaiters(t, looks, bob+" 2 1")
			if v := a.ask(t, asker, bob); !v.IsNil && len(v.Elems) == 0 {
				t.Fatal(v)
			}
			if _, err := hears.Do("UNSUBSCRIBE"); err != nil {
				t.Fatal(err)
			}
			expectWaiters(t, looks, "")
			s.isConsistent()
		})
	}
}

// asks has the owner ask for the plain lock x, and expects that it is refused.
func asks(t testing.TB, c *wire.Conn, owner string) {
	t.Helper()
	if v := kindsOfAsks()[0].ask(t, c, owner); v.IsNil {
		t.Fatal(owner, "has acquired the lock")
	}
}

// threadOf returns an owner of bob's client.
func threadOf(i int) string { return strings.TrimSuffix(bob, "3") + strconv.Itoa(i) }

const (
	carol        = "aaaaaaaa-7a52-4d26-8e7b-5f1d2c3b4a59:1"
	plainChannel = "redisson_lock__channel:{x}"
)

func TestThreadsOfOneClientAreCounted(t *testing.T) {
	s := start(t)
	c, looks := s.connect(), s.connect()
	s.lock(0, "x", alice, 60000, "")
	await := s.awaits("x WAITERS 5")
	none := s.awaits("x WAITERS 1 OWNER " + threadOf(4))
	for thread := range 5 {
		asks(t, c, threadOf(thread))
	}
	s.subscribed("SUBSCRIBE", plainChannel)
	expectReplies(t, looks, "LOCK.AWAIT x WAITERS 0", `"OK"`)
	for thread := range 4 {
		asks(t, c, threadOf(thread))
	}
	expectReplies(t, looks, "LOCK.AWAIT x WAITERS 4", `"OK"`, "MULTI", `"OK"`,
		"LOCK.AWAIT x WAITERS 5", `"QUEUED"`, "EXEC", "[nil]")
	asks(t, c, threadOf(4))
	expectReply(t, await, `"OK"`)
	expectReply(t, none, `"OK"`)
	s.isConsistent()
}

func TestTwoClientsThatAskBeforeTheySubscribeBothWait(t *testing.T) {
	s := start(t)
	c, looks := s.connect(), s.connect()
	s.lock(0, "x", alice, 60000, "")
	await := s.awaits("x WAITERS 2")
	asks(t, c, bob)
	asks(t, c, carol)
	s.subscribed("SUBSCRIBE", plainChannel)
	asks(t, c, bob)
	s.subscribed("SUBSCRIBE", plainChannel)
	expectReplies(t, looks, "MULTI", `"OK"`, "LOCK.AWAIT x WAITERS 2", `"QUEUED"`, "EXEC", "[nil]")
	asks(t, c, carol)
	expectReply(t, await, `"OK"`)
	s.isConsistent()
}

func TestASubscriberCountsAfterAWhileWithoutASecondAsk(t *testing.T) {
	s := start(t)
	c := s.connect()
	s.lock(0, "x", alice, 60000, "")
	asks(t, c, bob)
	s.subscribed("SUBSCRIBE", plainChannel)
	await := s.awaits("x WAITERS 1")
	s.clock.Set(epoch.Add(100 * time.Millisecond))
	expectReply(t, await, `"OK"`)
}

// Two lock clients wait. The subscriptions of one end, in an order that tells which owners are gone.
func TestTheOwnersOfAClientThatEndsItsSubscriptionAreGone(t *testing.T) {
	s := start(t)
	c, looks := s.connect(), s.connect()
	s.lock(0, "x", alice, 60000, "")
	asks(t, c, bob)
	first := s.subscribed("SUBSCRIBE", plainChannel)
	asks(t, c, bob)
	asks(t, c, carol)
	second := s.subscribed("SUBSCRIBE", plainChannel)
	asks(t, c, carol)
	both := bob + " 2 1, " + carol + " 2 1"
	expectWaiters(t, looks, both)
	do(t, first, "UNSUBSCRIBE", plainChannel)
	expectWaiters(t, looks, carol+" 2 1")
	asks(t, c, bob) // a new row
	expectWaiters(t, looks, carol+" 2 1, "+bob+" 1 0")
	await := s.awaits("x WAITERS 0")
	second.Close()
	expectReply(t, await, `"OK"`)
	s.isConsistent()
}

func TestAnOwnerThatPollsWaitsWhileItPolls(t *testing.T) {
	s := start(t)
	c, looks := s.connect(), s.connect()
	s.lock(0, "x", alice, 60000, "")
	asks(t, c, bob)
	expectWaiters(t, looks, bob+" 1 0")
	expectReplies(t, looks, "LOCK.AWAIT x WAITERS 0", `"OK"`)
	asks(t, c, bob)
	expectWaiters(t, looks, bob+" 2 1")
	await := s.awaits("x WAITERS 0")
	s.clock.Set(epoch.Add(time.Second))
	expectWaiters(t, looks, bob+" 2 1")
	s.clock.Set(epoch.Add(1001 * time.Millisecond))
	expectReply(t, await, `"OK"`)
	expectWaiters(t, looks, "")
	asks(t, c, bob)
	expectWaiters(t, looks, bob+" 3 1")
	await = s.awaits("x WAITERS 0")
	c.Close()
	expectReply(t, await, `"OK"`)
	s.isConsistent()
}

func TestReleasesRenewalsAndFailedScriptsAreNoAsks(t *testing.T) {
	s := start(t)
	c, looks := s.connect(), s.connect()
	s.lock(0, "x", alice, 60000, "")
	s.do(0, "SET", "text", "1")
	s.do(0, "HSET", "data", "field", "1")
	for _, line := range [][]string{
		{plainRelease, "2", "x", plainChannel, "0", "30000", bob, "PUBLISH"},
		{"return -1", "3", "x", plainChannel, "redisson_unlock_latch:{x}:1", bob, "publish", "9"},
		{renew, "1", "x", "30000", bob},
		{renew, "1", "x", "30000", alice},
		{plainAcquire, "1", "x", "30000", alice},
		{"return redis.call('pttl', KEYS[1])", "1", "x", "60000"},
		{"return redis.call('pttl', KEYS[1])", "1", "x", bob, carol},
		{"return redis.call('pttl', KEYS[1])", "1", "x", "not-an-owner:1"},
		{"return redis.call('pttl', KEYS[1])", "1", "x", alice},
		{"return 5", "1", "text", bob},
		{"return 5", "1", "missing", bob},
		{"return 5", "0", bob},
		{"return {1, 2, 3}", "1", "x", bob},
		{"return {'1', -1}", "1", "x", bob},
		{"return {-4, -1}", "1", "x", bob},
	} {
		do(t, c, append([]string{"EVAL"}, line...)...)
	}
	if v, err := c.Do("EVAL", "redis.call('pttl', KEYS[1]) return redis.call('incr', KEYS[1])", "1", "x", bob); err != nil || !v.IsError() {
		t.Fatal(v, err)
	}
	for _, name := range []string{"x", "text", "missing", "data"} {
		if got := waiters(t, looks, name, "owner"); got != "" {
			t.Errorf("%q wait for %s", got, name)
		}
	}
}

func TestAGrantAReleaseOrAnEndOfTheQueueEndsARow(t *testing.T) {
	s := start(t)
	c, looks := s.connect(), s.connect()
	plain, fair := kindsOfAsks()[0], kindsOfAsks()[2]
	s.lock(0, "x", alice, 60000, "")
	asks(t, c, bob)
	hears := s.subscribed("SUBSCRIBE", plainChannel)
	asks(t, c, bob)
	s.do(0, "DEL", "x")
	plain.ask(t, c, bob)
	s.do(0, "DEL", "x")
	s.lock(0, "x", alice, 60000, "")
	asks(t, c, bob)
	expectWaiters(t, looks, bob+" 1 0")
	asks(t, c, bob)
	s.lock(0, "x", bob, 60000, "")   // by a script that replies nothing
	expectWaiters(t, looks, " -1 1") // the subscriber
	do(t, hears, "UNSUBSCRIBE")
	s.do(0, "FLUSHALL")

	s.lock(0, "x", alice, 60000, "")
	fair.ask(t, c, bob)
	do(t, c, "EVAL", acquireFailed, "2", fair.keys[1], fair.keys[2], bob, "300000")
	expectWaiters(t, looks, "")
	fair.ask(t, c, bob)
	fair.ask(t, c, bob)
	expectWaiters(t, looks, bob+" 2 1")
	s.clock.Set(epoch.Add(1001 * time.Millisecond)) // it is not subscribed
	expectWaiters(t, looks, "")
}

func TestWaitersOfDatabasesAreApartAndGoWithThem(t *testing.T) {
	s := start(t)
	c, other, looks := s.connect(), s.connect(), s.connect()
	do(t, other, "SELECT", "3")
	s.lock(0, "x", alice, 60000, "")
	s.lock(3, "x", alice, 60000, "")
	hears := s.connect()
	do(t, hears, "SELECT", "3")
	asks(t, c, bob)
	asks(t, other, carol)
	do(t, hears, "SUBSCRIBE", plainChannel)
	asks(t, c, bob)
	asks(t, other, carol)
	expectWaiters(t, looks, bob+" 2 1")
	s.clock.Set(epoch.Add(2 * time.Second)) // only carol's client listens
	expectWaiters(t, looks, "")
	expectWaiters(t, other, carol+" 2 1")
	do(t, looks, "SWAPDB", "0", "3")
	expectWaiters(t, looks, carol+" 2 1")
	asks(t, c, carol)
	expectWaiters(t, looks, carol+" 3 1")
	do(t, looks, "SWAPDB", "0", "3")
	expectWaiters(t, other, carol+" 3 1")
	do(t, other, "FLUSHDB")
	if got := waiters(t, other, "x", "owner"); got != "" { // its connection is known
		t.Error(got)
	}
	s.isConsistent()
}

func TestAnAskInATransactionIsSeen(t *testing.T) {
	s := start(t)
	c := s.connect()
	s.lock(0, "x", alice, 60000, "")
	await := s.awaits("x WAITERS 1")
	do(t, c, "MULTI")
	for range 2 {
		kindsOfAsks()[0].ask(t, c, bob)
	}
	do(t, c, "LOCK.WAITERS", "x")
	do(t, c, "LOCK.WAITERS", "x", "PROBE")
	v, err := c.Do("EXEC")
	if err != nil || len(v.Elems) != 4 {
		t.Fatal(v, err)
	}
	if got := rowsOf(v.Elems[2], "owner", "asks"); got != bob+" 2" || !v.Elems[3].IsError() {
		t.Error(got, v.Elems[3])
	}
	expectReply(t, await, `"OK"`)
}

func TestAThousandOwnersWaitAndTheOldestMakeRoom(t *testing.T) {
	s := start(t)
	c, looks := s.connect(), s.connect()
	s.lock(0, "x", alice, 60000, "")
	s.subscribed("SUBSCRIBE", plainChannel)
	for range 2 {
		for thread := range 1000 {
			asks(t, c, threadOf(thread))
		}
	}
	expectReplies(t, looks, "LOCK.AWAIT x WAITERS 1000", `"OK"`, "MULTI", `"OK"`,
		"LOCK.AWAIT x WAITERS 1001", `"QUEUED"`, "EXEC", "[nil]")
	for thread := range 5000 {
		asks(t, c, threadOf(1000+thread))
	}
	rows := strings.Split(waiters(t, looks, "x", "owner"), ", ")
	if len(rows) != 4096 || rows[0] != threadOf(6000-4096) || rows[4095] != threadOf(5999) {
		t.Errorf("%d owners from %s to %s", len(rows), rows[0], rows[len(rows)-1])
	}
	do(t, c, "FLUSHALL")
	for _, row := range strings.Split(waiters(t, looks, "x", "owner"), ", ") {
		if row != "" {
			t.Errorf("%s waits after FLUSHALL", row)
		}
	}
	s.isConsistent()
}

func TestASubscriberWithoutAnOwnerIsAWaiterOfItsOwn(t *testing.T) {
	s := start(t)
	looks := s.connect()
	s.subscribed("SUBSCRIBE", plainChannel)
	s.subscribed("SUBSCRIBE", "redisson_sc:{x}")
	for want, fields := range map[string]string{
		" lock 1700000000000 -1 1 pipe:2,  semaphore 1700000000000 -1 1 pipe:3": "owner kind since asks waits client-addr",
	} {
		if got := waiters(t, looks, "x", strings.Fields(fields)...); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// twoWait has bob and another thread ask for a lock and wait. It returns their subscription.
func (s *server) twoWait(a asksFor, asker *wire.Conn) (hears *wire.Conn) {
	s.t.Helper()
	for range 2 {
		a.ask(s.t, asker, bob)
		a.ask(s.t, asker, threadOf(77))
	}
	hears = s.subscribed("SUBSCRIBE", a.channel)
	a.ask(s.t, asker, bob)
	a.ask(s.t, asker, threadOf(77))
	return hears
}

// A thread of two asks again when it is woken. The other one has given up.
func TestAProbeListsTheOwnersThatAskAgain(t *testing.T) {
	for _, a := range kindsOfAsks() {
		t.Run(a.kind+a.mode, func(t *testing.T) {
			s := start(t)
			c, probing := s.connect(), s.connect()
			first := a
			if a.mode != "" {
				first = kindsOfAsks()[4]
			}
			first.ask(t, c, alice)
			asker := s.connect()
			hears := s.twoWait(a, asker)
			if err := probing.Send("LOCK.WAITERS", "x", "PROBE", "TIMEOUT", "300"); err != nil {
				t.Fatal(err)
			}
			if got := message(t, hears); got != "message "+a.channel+" 1" {
				t.Fatal(got)
			}
			a.ask(t, asker, bob)
			v, err := probing.Receive()
			if err != nil {
				t.Fatal(err)
			}
			if got := rowsOf(v, "owner", "asks", "waits"); got != bob+" 4 1" {
				t.Errorf("%q", got)
			}
			s.isConsistent()
		})
	}
}

// Of several threads of a Redisson that one message wakes, a fast one may ask twice, and another one sleeps on.
func TestAProbeWakesTheThreadsAgainThatHaveNotAsked(t *testing.T) {
	a := kindsOfAsks()[0]
	s := start(t)
	probing, asker := s.connect(), s.connect()
	a.ask(t, s.connect(), alice)
	hears := s.twoWait(a, asker)
	if err := probing.Send("LOCK.WAITERS", "x", "PROBE", "TIMEOUT", "2000"); err != nil {
		t.Fatal(err)
	}
	for _, owner := range []string{bob, threadOf(77)} {
		if got := message(t, hears); got != "message "+a.channel+" 1" {
			t.Fatal(got)
		}
		a.ask(t, asker, owner)
	}
	v, err := probing.Receive()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := rowsOf(v, "owner"), bob+", "+threadOf(77); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestAProbeOfPermitsListsTheClientsThatAsk(t *testing.T) {
	s := start(t)
	asker, probing, looks := s.connect(), s.connect(), s.connect()
	s.do(0, "SET", "x", "0")
	permit := func() {
		do(t, asker, "EVAL", permitAcquire, "3", "x", "{x}:timeout", "redisson_sc:{x}",
			"1", "922337203685477", "1700000000000", "922337203685477", "PUBLISH", "0123456789abcdef")
	}
	permit()
	hears := s.subscribed("SUBSCRIBE", "redisson_sc:{x}")
	permit()
	if got := waiters(t, looks, "x", "owner", "kind", "client-addr"); got != " semaphore pipe:4" {
		t.Errorf("%q", got)
	}
	for _, want := range []string{" semaphore 1 pipe:1", ""} {
		if err := probing.Send("LOCK.WAITERS", "x", "PROBE"); err != nil {
			t.Fatal(err)
		}
		if got := message(t, hears); got != "message redisson_sc:{x} 1000000" {
			t.Fatal(got)
		}
		if want != "" {
			permit()
		}
		v, err := probing.Receive()
		if err != nil {
			t.Fatal(err)
		}
		if got := rowsOf(v, "owner", "kind", "asks", "client-addr"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	s.isConsistent()
}

func TestAProbeEndsWithItsClientAndWithUnblock(t *testing.T) {
	s := start(t)
	c, other := s.connect(), s.connect()
	id := ask(t, c, "CLIENT ID")
	if err := c.Send("LOCK.WAITERS", "x", "PROBE", "TIMEOUT", "60000"); err != nil {
		t.Fatal(err)
	}
	s.waitForClients(1)
	expectReplies(t, other, "CLIENT UNBLOCK "+id, "1")
	expectReply(t, c, "nil")
	if err := c.Send("LOCK.WAITERS", "x", "PROBE", "TIMEOUT", "50"); err != nil {
		t.Fatal(err)
	}
	s.waitForClients(1)
	c.Close()
	expectReplies(t, other, "LOCK.WAITERS x PROBE TIMEOUT 100", "[]") // ends after the other one
	s.isConsistent()
}

func TestWaitersRefusesWrongArguments(t *testing.T) {
	s := start(t)
	const syntax = "-ERR syntax error"
	expectReplies(t, s.connect(),
		"LOCK.WAITERS", "-ERR wrong number of arguments for 'lock.waiters' command",
		"LOCK.WAITERS x", "[]",
		"LOCK.WAITERS x WAKE", syntax,
		"LOCK.WAITERS x PROBE TIMEOUT", syntax,
		"LOCK.WAITERS x PROBE MILLIS 5", syntax,
		"LOCK.WAITERS x PROBE TIMEOUT 5 MORE", syntax,
		"LOCK.WAITERS x PROBE TIMEOUT -1", "-ERR timeout is negative",
		"LOCK.WAITERS x PROBE TIMEOUT x", "-ERR timeout is not an integer or out of range",
		"lock.waiters x probe timeout 0", "[]",
		"EVAL \"return redis.pcall('LOCK.WAITERS', 'x').err\" 0", `"ERR This Redis command is not allowed from script"`,
	)
}

// A thread that was refused does not sleep yet when the lock ends. A message "0" is for one thread.
func TestTheEndOfAWriteLockWakesEveryOwnerThatIsKnown(t *testing.T) {
	s := start(t)
	c := s.connect()
	write := kindsOfAsks()[4]
	write.ask(t, c, alice)
	for thread := range 3 {
		write.ask(t, c, threadOf(thread))
	}
	write.ask(t, c, carol)
	hears := s.subscribed("SUBSCRIBE", write.channel)
	ask(t, c, "LOCK.END x")
	ask(t, c, "PUBLISH "+write.channel+" end")
	for _, payload := range []string{"1", "0", "0", "0", "end"} {
		if got, want := message(t, hears), "message "+write.channel+" "+payload; got != want {
			t.Fatalf("%q, want %q", got, want)
		}
	}
}
