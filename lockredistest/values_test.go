package lockredistest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/lockredistest"
)

const missing = lockredistest.ErrKeyNotFound

func TestCountersHaveSettersAndGetters(t *testing.T) {
	srv := lockredistest.RunT(t)
	n, err := srv.Incr("n", 3)
	check(t, "Incr", n, 3, err, nil)
	n, err = srv.Incr("n", -1)
	check(t, "Incr", n, 2, err, nil)
	f, err := srv.IncrByFloat("n", 0.5)
	check(t, "IncrByFloat", f, 2.5, err, nil)
	_, err = srv.Incr("n", 1)
	check(t, "Incr of 2.5", nil, nil, err,
		lockredistest.Error("ERR value is not an integer or out of range"))
	srv.SAdd("s", "a")
	if _, err = srv.IncrByFloat("s", 1); err == nil {
		t.Error("IncrByFloat of a set worked")
	}
}

func TestListsHaveSettersAndGetters(t *testing.T) {
	srv := lockredistest.RunT(t)
	n, err := srv.RPush("l", "c", "d")
	check(t, "RPush", n, 2, err, nil)
	n, err = srv.LPush("l", "b", "a")
	check(t, "LPush", n, 4, err, nil)
	v, err := srv.Pop("l")
	check(t, "Pop", v, "d", err, nil)
	v, err = srv.LPop("l")
	check(t, "LPop", v, "a", err, nil)
	_, err = srv.Pop("nope")
	check(t, "Pop of a missing key", nil, nil, err, missing)
	_, err = srv.LPop("nope")
	check(t, "LPop of a missing key", nil, nil, err, missing)
}

func TestHashesHaveSettersAndGetters(t *testing.T) {
	srv := lockredistest.RunT(t)
	srv.HSet("h", "b", "1", "a", "2", "c", "3")
	n, err := srv.HDel("h", "c", "nope")
	check(t, "HDel", n, 1, err, nil)
	keys, err := srv.HKeys("h")
	check(t, "HKeys", keys, []string{"a", "b"}, err, nil)
	_, err = srv.HKeys("nope")
	check(t, "HKeys of a missing key", nil, nil, err, missing)
	n, err = srv.HIncrBy("h", "a", 5)
	check(t, "HIncrBy", n, 7, err, nil)
	f, err := srv.HIncrByFloat("h", "a", 0.25)
	check(t, "HIncrByFloat", f, 7.25, err, nil)
}

func TestSetsHaveSettersAndGetters(t *testing.T) {
	srv := lockredistest.RunT(t)
	n, err := srv.SAdd("s", "b", "a", "b")
	check(t, "SAdd", n, 2, err, nil)
	members, err := srv.SMembers("s")
	check(t, "SMembers", members, []string{"a", "b"}, err, nil)
	has, err := srv.SIsMember("s", "a")
	check(t, "SIsMember", has, true, err, nil)
	has, err = srv.SIsMember("s", "x")
	check(t, "SIsMember of another", has, false, err, nil)
	_, err = srv.SIsMember("nope", "x")
	check(t, "SIsMember of a missing key", nil, nil, err, missing)
	n, err = srv.SRem("s", "b", "x")
	check(t, "SRem", n, 1, err, nil)
	n, err = srv.SCard("s")
	check(t, "SCard", n, 1, err, nil)
	n, err = srv.SCard("nope")
	check(t, "SCard of a missing key", n, 0, err, nil)
	m, err := srv.SRandMember("s")
	check(t, "SRandMember", m, "a", err, nil)
	_, err = srv.SRandMember("nope")
	check(t, "SRandMember of a missing key", nil, nil, err, missing)
}

func TestSortedSetsHaveSettersAndGetters(t *testing.T) {
	srv := lockredistest.RunT(t)
	added, err := srv.ZAdd("z", 1.5, "b")
	check(t, "ZAdd", added, true, err, nil)
	added, err = srv.ZAdd("z", -2, "b")
	check(t, "ZAdd again", added, false, err, nil)
	srv.ZAdd("z", 1e-310, "a")
	score, err := srv.ZScore("z", "b")
	check(t, "ZScore", score, -2.0, err, nil)
	_, err = srv.ZScore("z", "nope")
	check(t, "ZScore of a missing member", nil, nil, err, missing)
	members, err := srv.ZMembers("z")
	check(t, "ZMembers", members, []string{"b", "a"}, err, nil)
	_, err = srv.ZMembers("nope")
	check(t, "ZMembers of a missing key", nil, nil, err, missing)
	all, err := srv.SortedSet("z")
	check(t, "SortedSet", all, map[string]float64{"a": 1e-310, "b": -2}, err, nil)
	_, err = srv.SortedSet("nope")
	check(t, "SortedSet of a missing key", nil, nil, err, missing)
	was, err := srv.ZRem("z", "a")
	check(t, "ZRem", was, true, err, nil)
	was, err = srv.ZRem("z", "a")
	check(t, "ZRem again", was, false, err, nil)
}

func TestTypeRandomKeyPersistAndFlush(t *testing.T) {
	srv := lockredistest.RunT(t)
	check(t, "RandomKey of an empty server", srv.RandomKey(), "", nil, nil)
	srv.Set("k", "v")
	check(t, "RandomKey", srv.RandomKey(), "k", nil, nil)
	check(t, "Persist", srv.Persist("k"), false, nil, nil)
	srv.SetTTL("k", time.Hour)
	check(t, "Persist", srv.Persist("k"), true, nil, nil)
	check(t, "TTL", srv.TTL("k"), time.Duration(0), nil, nil)
	srv.HSet("h", "f", "v")
	srv.Push("l", "v")
	srv.SAdd("s", "m")
	srv.ZAdd("z", 1, "m")
	for key, want := range map[string]string{
		"k": "string", "h": "hash", "l": "list", "s": "set", "z": "zset", "nope": "",
	} {
		check(t, "Type of "+key, srv.Type(key), want, nil, nil)
	}
	srv.DB(1).Set("k", "v")
	srv.FlushDB()
	check(t, "Keys", len(srv.Keys()), 0, nil, nil)
	check(t, "the other database", srv.DB(1).Exists("k"), true, nil, nil)
}

func TestSeedMakesRandomChoicesRepeatable(t *testing.T) {
	var got [2]string
	for i := range got {
		srv := lockredistest.RunT(t)
		for c := range "abcdefghijklmnopqrstuvwxyz" {
			srv.SAdd("s", string(rune('a'+c)))
		}
		srv.Seed(42)
		for range 20 {
			m, _ := srv.SRandMember("s")
			got[i] += m
		}
	}
	if got[0] != got[1] || strings.Count(got[0], got[0][:1]) == 20 {
		t.Errorf("%q", got)
	}
}

func TestSelectAndSwapDB(t *testing.T) {
	srv := lockredistest.RunT(t)
	zero := srv.DB(0)
	srv.Select(3)
	srv.Set("k", "in 3")
	if v, _ := srv.DB(3).Get("k"); v != "in 3" || zero.Exists("k") {
		t.Error("Select does not move the server's own methods:", v, zero.Keys())
	}
	if !srv.SwapDB(0, 3) || srv.Exists("k") || !zero.Exists("k") {
		t.Error("SwapDB exchanged nothing")
	}
	if srv.SwapDB(0, 99) {
		t.Error("there is a database 99")
	}
	rec := &recorder{TB: t}
	other := lockredistest.RunT(rec)
	rec.stops(t, func() { other.Select(99) })
	if text := rec.end(); !strings.Contains(text, "Select(99)") {
		t.Error(text)
	}
}

func TestHostAndPortAreAddrs(t *testing.T) {
	srv := lockredistest.RunT(t)
	if got := srv.Host() + ":" + srv.Port(); got != srv.Addr() || srv.Host() != "127.0.0.1" {
		t.Errorf("%s, want %s", got, srv.Addr())
	}
}

func TestChecksReportDifferences(t *testing.T) {
	srv := lockredistest.RunT(t)
	srv.Set("k", "v")
	srv.Push("l", "a", "b")
	srv.SAdd("s", "a", "b")
	srv.HSet("h", "f", "v")
	srv.ZAdd("z", 1.5, "m")
	rec := &recorder{TB: t}
	srv.CheckGet(rec, "k", "v")
	srv.CheckList(rec, "l", "a", "b")
	srv.CheckSet(rec, "s", "b", "a", "b")
	srv.CheckHash(rec, "h", "f", "v")
	srv.CheckSortedSet(rec, "z", map[string]float64{"m": 1.5})
	srv.CheckMissing(rec, "nope", "neither")
	if len(rec.errors) > 0 {
		t.Fatal(rec.errors)
	}
	for want, fail := range map[string]func(t *recorder){
		`string "k": holds "v", want "w"`: func(t *recorder) { srv.CheckGet(t, "k", "w") },
		`string "nope": ERR no such key, want "v"`: func(t *recorder) {
			srv.CheckGet(t, "nope", "v")
		},
		`list "l": holds ["a" "b"], want ["b" "a"]`: func(t *recorder) {
			srv.CheckList(t, "l", "b", "a")
		},
		`set "s": holds ["a" "b"], want ["a"]`: func(t *recorder) { srv.CheckSet(t, "s", "a") },
		`set "k": WRONGTYPE`:                   func(t *recorder) { srv.CheckSet(t, "k") },
		`hash "h": holds map["f":"v"], want map["f":"w"]`: func(t *recorder) {
			srv.CheckHash(t, "h", "f", "w")
		},
		`check hash "h": the last field "x" has no value`: func(t *recorder) {
			srv.CheckHash(t, "h", "f", "v", "x")
		},
		`sorted set "z": holds map[m:1.5], want map[m:2]`: func(t *recorder) {
			srv.CheckSortedSet(t, "z", map[string]float64{"m": 2})
		},
		`key "k": exists and holds a string, want no key`: func(t *recorder) {
			srv.CheckMissing(t, "nope", "k")
		},
	} {
		rec := &recorder{TB: t}
		fail(rec)
		if len(rec.errors) != 1 || !strings.Contains(rec.errors[0], want) {
			t.Errorf("%q, want %s", rec.errors, want)
		}
	}
}

func TestDumpShowsAllTypes(t *testing.T) {
	srv := lockredistest.RunT(t, lockredistest.ManualClock())
	srv.Set("k", "v\n")
	srv.SetTTL("k", time.Minute)
	srv.Push("l", "b", "a")
	srv.SAdd("s", "b", "a")
	srv.HSet("h", "f", "v")
	srv.ZAdd("z", 1.5, "m")
	const want = `"h" hash
	"f": "v"
"k" string, expires in 1m0s
	"v\n"
"l" list
	"b"
	"a"
"s" set
	"a"
	"b"
"z" zset
	"m": 1.5
`
	if got := srv.Dump(); got != want {
		t.Errorf("dumped\n%s", got)
	}
}

func TestRequireAuthSetsAndRemovesAPassword(t *testing.T) {
	srv := lockredistest.RunT(t)
	open := srv.Options()
	works := func(o *redis.Options) bool {
		rdb := redis.NewClient(o)
		defer rdb.Close()
		return rdb.Ping(t.Context()).Err() == nil
	}
	srv.RequireAuth("secret")
	if works(open) {
		t.Error("a client without the password may run commands")
	}
	if !works(srv.Options()) || srv.Client().Ping(t.Context()).Err() != nil {
		t.Error("the client that Options describes may run no commands")
	}
	srv.RequireAuth("")
	if !works(open) {
		t.Error("the password is still required")
	}
}

func TestRequireUserAuthAddsUsers(t *testing.T) {
	srv := lockredistest.RunT(t)
	works := func(user, password string) bool {
		o := srv.Options()
		o.Username, o.Password = user, password
		rdb := redis.NewClient(o)
		defer rdb.Close()
		return rdb.Ping(t.Context()).Err() == nil
	}
	srv.RequireUserAuth("ann", "a")
	srv.RequireUserAuth("bob", "b")
	for _, c := range []struct {
		user, password string
		works          bool
	}{
		{"ann", "a", true}, {"bob", "b", true}, {"ann", "b", false}, {"cid", "", false},
		{"", "a", false}, {"", "", false}, {"default", "", false},
	} {
		if works(c.user, c.password) != c.works {
			t.Errorf("%q with %q: works is %v", c.user, c.password, !c.works)
		}
	}
	if o := srv.Options(); o.Username != "bob" || o.Password != "b" {
		t.Errorf("Options have the user %q with %q", o.Username, o.Password)
	}
	srv.RequireUserAuth("default", "secret")
	if !works("", "secret") || !works("ann", "a") {
		t.Error("the default user or ann cannot log in")
	}
	srv.RequireAuth("")
	srv.RequireUserAuth("bob", "")
	if works("bob", "b") || !works("ann", "a") || srv.Options().Username != "ann" {
		t.Error("bob can log in, or ann cannot")
	}
	srv.RequireUserAuth("ann", "")
	if !works("", "") {
		t.Error("a password is still required")
	}
}

func TestConnectionsAndCommandsAreCounted(t *testing.T) {
	srv := lockredistest.RunT(t)
	if srv.CommandCount() != 0 || srv.TotalConnectionCount() != 0 {
		t.Error("a new server has counted something")
	}
	srv.Set("k", "v")
	for i := range 2 {
		nc, err := srv.Dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		nc.Write([]byte("GET k\r\nCLIENT ID\r\nGET\r\n" +
			"EVAL \"return redis.call('get','k')\" 0\r\nQUIT\r\n"))
		defer nc.Close()
		eventually(t, "the connection has ended", func() bool {
			return srv.TotalConnectionCount() == i+1 && srv.CurrentConnectionCount() == 0
		})
	}
	counts := srv.CommandCounts()
	want := map[string]int{"get": 4, "client|id": 2, "eval": 2, "quit": 2}
	check(t, "counts", counts, want, nil, nil)
	check(t, "CommandCount", srv.CommandCount(), 10, nil, nil)
	check(t, "TotalConnectionCount", srv.TotalConnectionCount(), 2, nil, nil)
}

func TestSetTimeMovesAManualClockBothWays(t *testing.T) {
	srv := lockredistest.RunT(t, lockredistest.ManualClock())
	past := time.Date(2020, 2, 29, 12, 0, 0, 0, time.UTC)
	srv.SetTime(past)
	if got, _ := srv.Do("TIME"); !srv.Now().Equal(past) || got.([]any)[0] != "1582977600" {
		t.Error(srv.Now(), got)
	}
	srv.Set("k", "v")
	srv.SetTTL("k", time.Minute)
	srv.SetTime(past.Add(-time.Minute))
	check(t, "TTL", srv.TTL("k"), 2*time.Minute, nil, nil)
	srv.SetTime(past.Add(59 * time.Second))
	check(t, "TTL", srv.TTL("k"), time.Second, nil, nil)
	srv.SetTime(past.Add(time.Hour))
	check(t, "Exists", srv.Exists("k"), false, nil, nil)
	check(t, "Now", srv.Now().Equal(past.Add(time.Hour)), true, nil, nil)

	rec := &recorder{TB: t}
	other := lockredistest.RunT(rec)
	rec.stops(t, func() { other.SetTime(past) })
	if text := rec.end(); !strings.Contains(text, "ManualClock()") {
		t.Error(text)
	}
}
