package main

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"github.com/lockredis/lockredis/compat_test/clients/go/check"
)

type rueidisRun = func(name string, f func(t *check.T, c rueidis.Client))

// checkRueidis uses a client with the default options, which include CLIENT TRACKING.
func checkRueidis() {
	suite := check.New("rueidis", "github.com/redis/rueidis")
	client, failed := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{addr}})
	if failed == nil {
		defer client.Close()
	}
	run := func(name string, f func(t *check.T, c rueidis.Client)) {
		suite.Run(name, func(t *check.T) {
			t.OK(failed)
			f(t, client)
		})
	}
	rueidisConnections(run)
	rueidisPipelines(run)
	rueidisReplies(run)
	rueidisCaching(run)
	rueidisMessages(run)
}

// rueidisClient returns a client of its own for the check.
func rueidisClient(t *check.T, option rueidis.ClientOption) rueidis.Client {
	option.InitAddress = []string{addr}
	c := check.Must[rueidis.Client](t)(rueidis.NewClient(option))
	t.Cleanup(c.Close)
	return c
}

func rueidisConnections(run rueidisRun) {
	run("ParseURL selects a database and a client name", func(t *check.T, _ rueidis.Client) {
		option := check.Must[rueidis.ClientOption](t)(rueidis.ParseURL("redis://" + addr + "/8?client_name=parsed"))
		c := rueidisClient(t, option)
		info := check.Must[string](t)(c.Do(t, c.B().ClientInfo().Build()).ToString())
		t.True(has(info, " db=8 ", " name=parsed ", " resp=3", " flags=t "), info)
	})
	run("AlwaysRESP2 with DisableCache", func(t *check.T, _ rueidis.Client) {
		c := rueidisClient(t, rueidis.ClientOption{AlwaysRESP2: true, DisableCache: true})
		t.OK(c.Do(t, c.B().Hset().Key("two").FieldValue().FieldValue("f", "v").Build()).Error())
		t.Equal(check.Must[map[string]string](t)(c.Do(t, c.B().Hgetall().Key("two").Build()).AsStrMap()), map[string]string{"f": "v"})
	})
	run("Username, Password, ClientNoEvict", func(t *check.T, c rueidis.Client) {
		t.OK(c.Do(t, c.B().AclSetuser().Username("rue").Rule("on", ">secret", "~*", "&*", "+@all").Build()).Error())
		defer c.Do(t, c.B().AclDeluser().Username("rue").Build())
		user := rueidisClient(t, rueidis.ClientOption{Username: "rue", Password: "secret", ClientNoEvict: true})
		t.Equal(check.Must[string](t)(user.Do(t, user.B().AclWhoami().Build()).ToString()), "rue")
		_, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{addr}, Username: "rue", Password: "wrong"})
		t.Says(err, "WRONGPASS")
	})
	run("a connection that the server ends is replaced", func(t *check.T, c rueidis.Client) {
		own := rueidisClient(t, rueidis.ClientOption{})
		id := check.Must[int64](t)(own.Do(t, own.B().ClientId().Build()).AsInt64())
		t.OK(c.Do(t, c.B().ClientKill().Id(id).Build()).Error())
		t.Await("a new connection", func() bool {
			again, err := own.Do(t, own.B().ClientId().Build()).AsInt64()
			return err == nil && again != id
		})
	})
	run("a context ends a blocked call", func(t *check.T, _ rueidis.Client) {
		c := rueidisClient(t, rueidis.ClientOption{})
		ctx, cancel := context.WithTimeout(t, 40*time.Millisecond)
		defer cancel()
		t.Is(c.Do(ctx, c.B().Blpop().Key("never").Timeout(20).Build()).Error(), context.DeadlineExceeded)
	})
}

// rueidisPipelines checks pipelines, transactions and scripts.
func rueidisPipelines(run rueidisRun) {
	run("auto pipelining of a hundred goroutines", func(t *check.T, c rueidis.Client) {
		var group sync.WaitGroup
		for range 100 {
			group.Go(func() {
				for range 20 {
					c.Do(t, c.B().Incr().Key("auto").Build())
				}
			})
		}
		group.Wait()
		t.Equal(check.Must[int64](t)(c.Do(t, c.B().Get().Key("auto").Build()).AsInt64()), int64(2000))
	})
	run("DoMulti and the helpers MSet, MGet, MDel", func(t *check.T, c rueidis.Client) {
		var commands rueidis.Commands
		for range 500 {
			commands = append(commands, c.B().Incr().Key("multi").Build())
		}
		t.Equal(check.Must[int64](t)(c.DoMulti(t, commands...)[499].AsInt64()), int64(500))
		for _, err := range rueidis.MSet(c, t, map[string]string{"m1": "a", "m2": "b"}) {
			t.OK(err)
		}
		got := check.Must[map[string]rueidis.RedisMessage](t)(rueidis.MGet(c, t, []string{"m1", "m2", "m3"}))
		m2 := got["m2"]
		t.Equal([]any{check.Must[string](t)(m2.ToString()), len(got)}, []any{"b", 3})
		for _, err := range rueidis.MDel(c, t, []string{"m1", "m2"}) {
			t.OK(err)
		}
	})
	run("a dedicated client watches and commits", func(t *check.T, c rueidis.Client) {
		t.OK(c.Dedicated(func(d rueidis.DedicatedClient) error {
			t.OK(d.Do(t, d.B().Watch().Key("w").Build()).Error())
			t.OK(c.Do(t, c.B().Set().Key("w").Value("other").Build()).Error())
			replies := d.DoMulti(t, d.B().Multi().Build(), d.B().Set().Key("w").Value("own").Build(), d.B().Exec().Build())
			t.True(rueidis.IsRedisNil(replies[2].Error()), "EXEC is aborted")
			replies = d.DoMulti(t, d.B().Multi().Build(), d.B().Append().Key("w").Value("!").Build(), d.B().Get().Key("w").Build(), d.B().Exec().Build())
			t.Equal(check.Must[[]rueidis.RedisMessage](t)(replies[3].ToArray())[1].String() != "", true)
			return nil
		}))
		t.Equal(check.Must[string](t)(c.Do(t, c.B().Get().Key("w").Build()).ToString()), "other!")
	})
	run("NewLuaScript and ExecMulti", func(t *check.T, c rueidis.Client) {
		script := rueidis.NewLuaScript("return {KEYS[1], ARGV[1]} -- rueidis")
		t.Equal(check.Must[[]string](t)(script.Exec(t, c, []string{"k"}, []string{"a"}).AsStrSlice()), []string{"k", "a"})
		for _, reply := range script.ExecMulti(t, c, rueidis.LuaExec{Keys: []string{"1"}, Args: []string{"x"}}, rueidis.LuaExec{Keys: []string{"2"}, Args: []string{"y"}}) {
			t.OK(reply.Error())
		}
		read := rueidis.NewLuaScriptReadOnly("return redis.call('SET', KEYS[1], 1)")
		t.Says(read.Exec(t, c, []string{"k"}, nil).Error(), "Write commands are not allowed")
	})
}

func rueidisReplies(run rueidisRun) {
	run("types of replies: AsMap, AsZScores, AsScanEntry", func(t *check.T, c rueidis.Client) {
		t.OK(c.Do(t, c.B().Zadd().Key("z").ScoreMember().ScoreMember(1.5, "a").ScoreMember(2, "b").Build()).Error())
		scores := check.Must[[]rueidis.ZScore](t)(c.Do(t, c.B().Zrange().Key("z").Min("0").Max("-1").Withscores().Build()).AsZScores())
		t.Equal(scores, []rueidis.ZScore{{Member: "a", Score: 1.5}, {Member: "b", Score: 2}})
		popped := check.Must[rueidis.KeyZScores](t)(c.Do(t, c.B().Zmpop().Numkeys(1).Key("z").Max().Build()).AsZMPop())
		t.Equal(popped, rueidis.KeyZScores{Key: "z", Values: []rueidis.ZScore{{Member: "b", Score: 2}}})
		entry := check.Must[rueidis.ScanEntry](t)(c.Do(t, c.B().Scan().Cursor(0).Match("z").Count(100000).Build()).AsScanEntry())
		t.Equal(entry, rueidis.ScanEntry{Cursor: 0, Elements: []string{"z"}})
	})
	run("DoStream reads a large value", func(t *check.T, c rueidis.Client) {
		large := string(make([]byte, 3<<20))
		t.OK(c.Do(t, c.B().Set().Key("large").Value(large).Build()).Error())
		stream := c.DoStream(t, c.B().Get().Key("large").Build())
		n, err := stream.WriteTo(discard{})
		t.OK(err)
		t.Equal(n, int64(len(large)))
	})
	run("errors: nil, WRONGTYPE, unknown", func(t *check.T, c rueidis.Client) {
		t.True(rueidis.IsRedisNil(c.Do(t, c.B().Get().Key("none").Build()).Error()), "nil")
		t.OK(c.Do(t, c.B().Set().Key("str").Value("a").Build()).Error())
		t.Says(c.Do(t, c.B().Lpush().Key("str").Element("a").Build()).Error(), "WRONGTYPE")
		t.Says(c.Do(t, c.B().Arbitrary("NOSUCH").Build()).Error(), "unknown command 'NOSUCH'")
	})
	run("consumer groups", func(t *check.T, c rueidis.Client) {
		t.OK(c.Do(t, c.B().XgroupCreate().Key("s").Group("g").Id("0").Mkstream().Build()).Error())
		t.True(rueidis.IsRedisBusyGroup(c.Do(t, c.B().XgroupCreate().Key("s").Group("g").Id("0").Build()).Error()), "BUSYGROUP")
		t.OK(c.Do(t, c.B().Xadd().Key("s").Id("1-1").FieldValue().FieldValue("f", "v").Build()).Error())
		read := check.Must[map[string][]rueidis.XRangeEntry](t)(c.Do(t, c.B().Xreadgroup().Group("g", "me").Count(1).Block(20000).Streams().Key("s").Id(">").Build()).AsXRead())
		t.Equal(read, map[string][]rueidis.XRangeEntry{"s": {{ID: "1-1", FieldValues: map[string]string{"f": "v"}}}})
		t.Equal(check.Must[int64](t)(c.Do(t, c.B().Xack().Key("s").Group("g").Id("1-1").Build()).AsInt64()), int64(1))
	})
}

// discard is an io.Writer.
type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

func rueidisCaching(run rueidisRun) {
	get := func(t *check.T, c rueidis.Client, key string) rueidis.RedisResult {
		return c.DoCache(t, c.B().Get().Key(key).Cache(), time.Minute)
	}
	set := func(t *check.T, c rueidis.Client, key, value string) {
		t.OK(c.Do(t, c.B().Set().Key(key).Value(value).Build()).Error())
	}
	run("DoCache: the second call is a hit", func(t *check.T, c rueidis.Client) {
		set(t, c, "c1", "a")
		t.Equal(get(t, c, "c1").IsCacheHit(), false)
		hit := get(t, c, "c1")
		t.Equal([]any{hit.IsCacheHit(), check.Must[string](t)(hit.ToString()), hit.CacheTTL() > 50}, []any{true, "a", true})
	})
	run("another client's write invalidates", func(t *check.T, c rueidis.Client) {
		set(t, c, "c2", "old")
		get(t, c, "c2")
		other := rueidisClient(t, rueidis.ClientOption{DisableCache: true})
		set(t, other, "c2", "new")
		t.Await("the invalidation", func() bool { return check.Must[string](t)(get(t, c, "c2").ToString()) == "new" })
	})
	run("expiry invalidates", func(t *check.T, c rueidis.Client) {
		t.OK(c.Do(t, c.B().Set().Key("c3").Value("short").PxMilliseconds(60).Build()).Error())
		get(t, c, "c3")
		t.Await("the invalidation", func() bool { return rueidis.IsRedisNil(get(t, c, "c3").Error()) })
	})
	run("DoMultiCache and MGetCache", func(t *check.T, c rueidis.Client) {
		keys := []string{}
		for i := range 20 {
			keys = append(keys, "mc"+strconv.Itoa(i))
			set(t, c, keys[i], keys[i])
		}
		for range 2 {
			got := check.Must[map[string]rueidis.RedisMessage](t)(rueidis.MGetCache(c, t, time.Minute, keys))
			m7 := got["mc7"]
			t.Equal(check.Must[string](t)(m7.ToString()), "mc7")
		}
		replies := c.DoMultiCache(t, rueidis.CT(c.B().Get().Key("mc1").Cache(), time.Minute), rueidis.CT(c.B().Strlen().Key("mc2").Cache(), time.Minute))
		t.Equal([]bool{replies[0].IsCacheHit(), replies[1].IsCacheHit()}, []bool{true, false})
	})
	run("OnInvalidations, also of FLUSHALL", func(t *check.T, c rueidis.Client) {
		lost := make(chan []rueidis.RedisMessage, 10)
		own := rueidisClient(t, rueidis.ClientOption{OnInvalidations: func(m []rueidis.RedisMessage) { lost <- m }})
		get(t, own, "c5")
		set(t, c, "c5", "x")
		message := check.Receive(t, lost)
		t.Equal(check.Must[string](t)(message[0].ToString()), "c5")
		get(t, own, "c5")
		t.OK(c.Do(t, c.B().Flushall().Build()).Error())
		t.True(check.Receive(t, lost) == nil, "nil means all keys")
	})
	run("broadcast mode with a prefix", func(t *check.T, c rueidis.Client) {
		lost := make(chan []rueidis.RedisMessage, 10)
		rueidisClient(t, rueidis.ClientOption{OnInvalidations: func(m []rueidis.RedisMessage) { lost <- m },
			ClientTrackingOptions: []string{"PREFIX", "b:", "BCAST"}})
		set(t, c, "other", "x")
		set(t, c, "b:1", "x")
		message := check.Receive(t, lost)
		t.Equal(check.Must[string](t)(message[0].ToString()), "b:1")
	})
	run("rueidislock excludes and hands over", rueidisLocks)
}

func rueidisLocks(t *check.T, _ rueidis.Client) {
	locker := check.Must[rueidislock.Locker](t)(rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption: rueidis.ClientOption{InitAddress: []string{addr}}, KeyMajority: 1, NoLoopTracking: true}))
	defer locker.Close()
	held, release, err := locker.WithContext(t, "rue")
	t.OK(err)
	_, _, err = locker.TryWithContext(t, "rue")
	t.Is(err, rueidislock.ErrNotLocked)
	entered := make(chan struct{})
	go func() {
		_, done, err := locker.WithContext(t, "rue")
		if err == nil {
			close(entered)
			done()
		}
	}()
	t.OK(held.Err())
	release()
	check.Receive(t, entered)
}

func rueidisMessages(run rueidisRun) {
	run("Receive gets messages of channels and patterns", func(t *check.T, c rueidis.Client) {
		messages, ready := make(chan rueidis.PubSubMessage, 4), make(chan struct{}, 4)
		ctx, cancel := context.WithCancel(rueidis.WithOnSubscriptionHook(t, func(rueidis.PubSubSubscription) { ready <- struct{}{} }))
		ended := make(chan error, 1)
		go func() {
			ended <- c.Receive(ctx, c.B().Psubscribe().Pattern("ch*").Build(), func(m rueidis.PubSubMessage) { messages <- m })
		}()
		check.Receive(t, ready)
		t.OK(c.Do(t, c.B().Publish().Channel("ch1").Message("hello").Build()).Error())
		t.Equal(check.Receive(t, messages), rueidis.PubSubMessage{Pattern: "ch*", Channel: "ch1", Message: "hello"})
		cancel()
		t.Is(check.Receive(t, ended), context.Canceled)
	})
	run("hooks of a dedicated client", func(t *check.T, c rueidis.Client) {
		d, cancel := c.Dedicate()
		defer cancel()
		messages := make(chan rueidis.PubSubMessage, 1)
		d.SetPubSubHooks(rueidis.PubSubHooks{OnMessage: func(m rueidis.PubSubMessage) { messages <- m }})
		t.OK(d.Do(t, d.B().Ssubscribe().Channel("shard").Build()).Error())
		t.OK(c.Do(t, c.B().Spublish().Channel("shard").Message("hi").Build()).Error())
		t.Equal(check.Receive(t, messages).Message, "hi")
	})
	run("BLPOP on a connection of its own", func(t *check.T, c rueidis.Client) {
		popped := make(chan []string, 1)
		go func() {
			pair, _ := c.Do(t, c.B().Blpop().Key("jobs").Timeout(20).Build()).AsStrSlice()
			popped <- pair
		}()
		t.OK(c.Do(t, c.B().Rpush().Key("jobs").Element("one").Build()).Error())
		t.Equal(check.Receive(t, popped), []string{"jobs", "one"})
	})
}
