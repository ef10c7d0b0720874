package main

import (
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/compat_test/clients/go/check"
)

func goRedisMessages(run goRedisRun) {
	run("Subscribe receives what Publish sends", func(t *check.T, rdb *redis.Client) {
		sub := rdb.Subscribe(t, "news")
		defer sub.Close()
		check.Must[any](t)(sub.Receive(t))
		t.Equal(rdb.Publish(t, "news", "hello").Val(), int64(1))
		message := check.Receive(t, sub.Channel())
		t.Equal([]string{message.Channel, message.Payload}, []string{"news", "hello"})
		t.OK(sub.Ping(t))
		t.OK(sub.Unsubscribe(t, "news"))
		t.Await("the end of the subscription", func() bool { return rdb.PubSubNumSub(t, "news").Val()["news"] == 0 })
	})
	run("PSubscribe and SSubscribe", func(t *check.T, rdb *redis.Client) {
		pattern, shard := rdb.PSubscribe(t, "p*"), rdb.SSubscribe(t, "shard")
		defer pattern.Close()
		defer shard.Close()
		check.Must[any](t)(pattern.Receive(t))
		check.Must[any](t)(shard.Receive(t))
		t.Equal([]int64{rdb.Publish(t, "p1", "a").Val(), rdb.SPublish(t, "shard", "b").Val()}, []int64{1, 1})
		t.Equal(check.Receive(t, pattern.Channel()).Pattern, "p*")
		t.Equal(check.Receive(t, shard.Channel()).Payload, "b")
	})
	run("a subscription survives the end of its connection", func(t *check.T, rdb *redis.Client) {
		sub := rdb.Subscribe(t, "again")
		defer sub.Close()
		check.Must[any](t)(sub.Receive(t))
		messages := sub.Channel()
		t.Equal(rdb.ClientKillByFilter(t, "TYPE", "pubsub").Val() > 0, true)
		t.Await("a subscriber", func() bool { return rdb.Publish(t, "again", "x").Val() > 0 })
		t.Equal(check.Receive(t, messages).Payload, "x")
	})
	run("keyspace notifications", func(t *check.T, rdb *redis.Client) {
		t.OK(rdb.ConfigSet(t, "notify-keyspace-events", "Ex").Err())
		defer rdb.ConfigSet(t, "notify-keyspace-events", "")
		sub := rdb.Subscribe(t, "__keyevent@0__:expired")
		defer sub.Close()
		check.Must[any](t)(sub.Receive(t))
		rdb.Set(t, "short", 1, 10*time.Millisecond)
		t.Equal(check.Receive(t, sub.Channel()).Payload, "short")
	})
	run("BLPop, BLMove and BZPopMin wait", func(t *check.T, rdb *redis.Client) {
		popped, moved, least := make(chan []string, 1), make(chan string, 1), make(chan *redis.ZWithKey, 1)
		go func() { popped <- rdb.BLPop(t, 0, "q1", "q2").Val() }()
		go func() { moved <- rdb.BLMove(t, "src", "dst", "LEFT", "RIGHT", 20*time.Second).Val() }()
		go func() { least <- rdb.BZPopMin(t, 20*time.Second, "zq").Val() }()
		t.Await("three blocked clients", func() bool {
			return rdb.InfoMap(t, "clients").Item("Clients", "blocked_clients") == "3"
		})
		rdb.RPush(t, "q2", "job")
		rdb.RPush(t, "src", "job")
		rdb.ZAdd(t, "zq", redis.Z{Score: 1.5, Member: "job"})
		t.Equal(check.Receive(t, popped), []string{"q2", "job"})
		t.Equal(check.Receive(t, moved), "job")
		t.Equal(*check.Receive(t, least), redis.ZWithKey{Z: redis.Z{Score: 1.5, Member: "job"}, Key: "zq"})
		t.Is(rdb.BLPop(t, time.Second, "none").Err(), redis.Nil)
	})
	run("streams: XAdd, XRead, XRange, XTrim", func(t *check.T, rdb *redis.Client) {
		read := make(chan []redis.XStream, 1)
		go func() {
			read <- rdb.XRead(t, &redis.XReadArgs{Streams: []string{"st", "$"}, Block: 20 * time.Second}).Val()
		}()
		t.Await("a reader", func() bool { return rdb.InfoMap(t, "clients").Item("Clients", "blocked_clients") == "1" })
		id := check.Must[string](t)(rdb.XAdd(t, &redis.XAddArgs{Stream: "st", Values: []any{"f", "v"}}).Result())
		t.Equal(check.Receive(t, read), []redis.XStream{{Stream: "st", Messages: []redis.XMessage{{ID: id, Values: map[string]any{"f": "v"}}}}})
		for range 9 {
			rdb.XAdd(t, &redis.XAddArgs{Stream: "st", Values: map[string]any{"f": 1}, MaxLen: 5})
		}
		t.Equal(len(rdb.XRevRange(t, "st", "+", "-").Val()), 5)
		t.Equal(rdb.XInfoStream(t, "st").Val().EntriesAdded, int64(10))
	})
	run("consumer groups: XReadGroup, XPending, XAutoClaim, XAck", goRedisGroups)
}

func goRedisGroups(t *check.T, rdb *redis.Client) {
	t.OK(rdb.XGroupCreateMkStream(t, "gs", "g", "$").Err())
	t.Says(rdb.XGroupCreate(t, "gs", "g", "$").Err(), "BUSYGROUP")
	id := rdb.XAdd(t, &redis.XAddArgs{Stream: "gs", Values: []any{"f", "v"}}).Val()
	read := check.Must[[]redis.XStream](t)(rdb.XReadGroup(t, &redis.XReadGroupArgs{Group: "g", Consumer: "one", Streams: []string{"gs", ">"}}).Result())
	t.Equal(read[0].Messages[0].ID, id)
	pending := check.Must[*redis.XPending](t)(rdb.XPending(t, "gs", "g").Result())
	t.Equal(pending, &redis.XPending{Count: 1, Lower: id, Higher: id, Consumers: map[string]int64{"one": 1}})
	claimed, _, err := rdb.XAutoClaim(t, &redis.XAutoClaimArgs{Stream: "gs", Group: "g", Consumer: "two", Start: "0"}).Result()
	t.OK(err)
	t.Equal(claimed[0].ID, id)
	t.Equal(rdb.XAck(t, "gs", "g", id).Val(), int64(1))
	groups := check.Must[[]redis.XInfoGroup](t)(rdb.XInfoGroups(t, "gs").Result())
	t.Equal([]any{groups[0].Name, groups[0].Consumers, groups[0].Pending, groups[0].Lag}, []any{"g", int64(2), int64(0), int64(0)})
	full := check.Must[*redis.XInfoStreamFull](t)(rdb.XInfoStreamFull(t, "gs", 10).Result())
	t.Equal([]any{full.Length, full.Groups[0].Name}, []any{int64(1), "g"})
}

func goRedisServer(run goRedisRun) {
	run("InfoMap, DBSize, Time, ConfigGet", func(t *check.T, rdb *redis.Client) {
		info := check.Must[map[string]map[string]string](t)(rdb.InfoMap(t).Result())
		t.Equal([]string{info["Server"]["redis_version"], info["Replication"]["role"]}, []string{"7.0.15", "master"})
		t.True(rdb.DBSize(t).Val() > 0, "there are keys")
		now := check.Must[time.Time](t)(rdb.Time(t).Result())
		t.True(time.Since(now).Abs() < time.Minute, "the time is now")
		t.Equal(rdb.ConfigGet(t, "maxmemory-pol*").Val(), map[string]string{"maxmemory-policy": "noeviction"})
	})
	run("Command, CommandList, CommandGetKeys", func(t *check.T, rdb *redis.Client) {
		commands := check.Must[map[string]*redis.CommandInfo](t)(rdb.Command(t).Result())
		get := commands["get"]
		t.Equal([]any{get.Arity, get.FirstKeyPos, get.ReadOnly}, []any{int8(2), int8(1), true})
		keys := check.Must[[]string](t)(rdb.CommandGetKeys(t, "mset", "a", 1, "b", 2).Result())
		t.Equal(keys, []string{"a", "b"})
		list := rdb.CommandList(t, &redis.FilterBy{Pattern: "xread*"}).Val()
		t.Equal(len(list), 2)
	})
	run("ObjectEncoding, ObjectIdleTime, MemoryUsage", func(t *check.T, rdb *redis.Client) {
		rdb.Set(t, "o", 12345, 0)
		t.Equal(rdb.ObjectEncoding(t, "o").Val(), "int")
		t.True(rdb.ObjectIdleTime(t, "o").Val() < 20*time.Second, "just used")
		t.True(rdb.MemoryUsage(t, "o").Val() > 0, "it takes memory")
	})
	run("ClientList, ClientPause, ClientUnblock", func(t *check.T, rdb *redis.Client) {
		t.True(strings.Contains(rdb.ClientList(t).Val(), "lib-") || strings.Contains(rdb.ClientList(t).Val(), "cmd=client|list"), "the own command is listed")
		conn := rdb.Conn()
		defer conn.Close()
		id := conn.ClientID(t).Val()
		ended := make(chan error, 1)
		go func() { ended <- conn.BLPop(t, 20*time.Second, "unblocked").Err() }()
		t.Await("the blocked client", func() bool { return rdb.ClientUnblockWithError(t, id).Val() == 1 })
		t.Says(check.Receive(t, ended), "UNBLOCKED")
		t.Equal(rdb.ClientPause(t, time.Millisecond).Val(), true)
	})
	run("SlowLogGet", func(t *check.T, rdb *redis.Client) {
		t.OK(rdb.ConfigSet(t, "slowlog-log-slower-than", "0").Err())
		rdb.Set(t, "slow", "1", 0)
		t.OK(rdb.ConfigSet(t, "slowlog-log-slower-than", "10000").Err())
		entries := check.Must[[]redis.SlowLog](t)(rdb.SlowLogGet(t, 10).Result())
		for _, entry := range entries {
			if strings.Join(entry.Args, " ") == "set slow 1" {
				return
			}
		}
		t.Fail("no entry for SET: %v", entries)
	})
	run("errors have their prefix and message", func(t *check.T, rdb *redis.Client) {
		t.Says(rdb.Do(t, "nosuch", "a").Err(), "ERR unknown command 'nosuch', with args beginning with: 'a'")
		t.Says(rdb.Do(t, "get").Err(), "ERR wrong number of arguments for 'get' command")
		rdb.Set(t, "string", "a", 0)
		t.True(redis.HasErrorPrefix(rdb.LPush(t, "string", 1).Err(), "WRONGTYPE"), "the prefix WRONGTYPE")
		t.Says(rdb.Do(t, "select", "99").Err(), "ERR DB index is out of range")
	})
}
