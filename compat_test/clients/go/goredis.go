package main

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/compat_test/clients/go/check"
)

func checkGoRedis() {
	suite := check.New("go-redis", "github.com/redis/go-redis/v9")
	rdb := redis.NewClient(&redis.Options{Addr: addr})
	defer rdb.Close()
	run := func(name string, f func(t *check.T, rdb *redis.Client)) {
		suite.Run(name, func(t *check.T) { f(t, rdb) })
	}
	goRedisConnections(run)
	goRedisValues(run)
	goRedisTransactions(run)
	goRedisMessages(run)
	goRedisServer(run)
}

type goRedisRun = func(name string, f func(t *check.T, rdb *redis.Client))

// goRedis returns a client of its own for the check.
func goRedis(t *check.T, change func(*redis.Options)) *redis.Client {
	options := &redis.Options{Addr: addr}
	change(options)
	rdb := redis.NewClient(options)
	t.Cleanup(func() { rdb.Close() })
	return rdb
}

func goRedisConnections(run goRedisRun) {
	run("ParseURL selects a database and a client name", func(t *check.T, _ *redis.Client) {
		options := check.Must[*redis.Options](t)(redis.ParseURL("redis://" + addr + "/5?client_name=parsed&dial_timeout=3s"))
		rdb := redis.NewClient(options)
		defer rdb.Close()
		info := check.Must[*redis.ClientInfo](t)(rdb.ClientInfo(t).Result())
		t.Equal([]any{info.DB, info.Name}, []any{5, "parsed"})
	})
	run("RESP3 is the default, RESP2 an option", func(t *check.T, rdb *redis.Client) {
		t.OK(rdb.HSet(t, "proto", "f", "1.5").Err())
		got := check.Must[any](t)(rdb.Do(t, "hgetall", "proto").Result())
		t.Equal(got, map[any]any{"f": "1.5"})
		old := goRedis(t, func(o *redis.Options) { o.Protocol = 2 })
		got = check.Must[any](t)(old.Do(t, "hgetall", "proto").Result())
		t.Equal(got, []any{"f", "1.5"})
		t.Equal(old.HGetAll(t, "proto").Val(), map[string]string{"f": "1.5"})
	})
	run("users of ACL, a wrong password, NOPERM", func(t *check.T, rdb *redis.Client) {
		t.OK(rdb.ACLSetUser(t, "gopher", "on", ">secret", "~app:*", "+get", "+set").Err())
		defer rdb.ACLDelUser(t, "gopher")
		as := func(password string) *redis.Client {
			return goRedis(t, func(o *redis.Options) { o.Username, o.Password = "gopher", password })
		}
		t.OK(as("secret").Set(t, "app:1", 1, 0).Err())
		t.Says(as("secret").Set(t, "other", 1, 0).Err(), "NOPERM")
		t.Says(as("wrong").Get(t, "app:1").Err(), "WRONGPASS")
	})
	run("a pool serves fifty goroutines", func(t *check.T, _ *redis.Client) {
		rdb := goRedis(t, func(o *redis.Options) { o.PoolSize, o.PoolTimeout = 5, 20*time.Second })
		var group sync.WaitGroup
		for range 50 {
			group.Go(func() {
				for range 20 {
					rdb.Incr(t, "pool")
				}
			})
		}
		group.Wait()
		t.Equal(rdb.Get(t, "pool").Val(), "1000")
		t.True(rdb.PoolStats().TotalConns <= 5, "at most five connections")
	})
	run("a connection that the server ends is replaced", func(t *check.T, rdb *redis.Client) {
		own := goRedis(t, func(o *redis.Options) { o.PoolSize = 1 })
		id := check.Must[int64](t)(own.ClientID(t).Result())
		t.Equal(check.Must[int64](t)(rdb.ClientKillByFilter(t, "ID", itoa(id)).Result()), int64(1))
		again := check.Must[int64](t)(own.ClientID(t).Result())
		t.True(again != id, "a new connection")
	})
	run("Conn keeps one connection with its state", func(t *check.T, _ *redis.Client) {
		conn := goRedis(t, func(*redis.Options) {}).Conn() // the pool does not reset a connection
		defer conn.Close()
		t.OK(conn.ClientSetName(t, "kept").Err())
		t.OK(conn.Select(t, 6).Err())
		t.Equal(conn.ClientGetName(t).Val(), "kept")
		t.Equal(conn.ClientInfo(t).Val().DB, 6)
	})
	run("a context ends a blocked call", func(t *check.T, _ *redis.Client) {
		rdb := goRedis(t, func(o *redis.Options) { o.ContextTimeoutEnabled = true })
		ctx, cancel := context.WithTimeout(t, 50*time.Millisecond)
		defer cancel()
		t.Is(rdb.BLPop(ctx, 20*time.Second, "never").Err(), os.ErrDeadlineExceeded)
		t.OK(rdb.Ping(t).Err())
	})
	run("Ring and UniversalClient", func(t *check.T, _ *redis.Client) {
		ring := redis.NewRing(&redis.RingOptions{Addrs: map[string]string{"one": addr, "two": addr}})
		defer ring.Close()
		universal := redis.NewUniversalClient(&redis.UniversalOptions{Addrs: []string{addr}})
		defer universal.Close()
		for _, key := range strings.Fields("r:1 r:2 r:3 r:4") {
			t.OK(ring.Set(t, key, key, time.Minute).Err())
			t.Equal(universal.Get(t, key).Val(), key)
		}
	})
}

func goRedisTransactions(run goRedisRun) {
	run("Pipelined sends commands together", func(t *check.T, rdb *redis.Client) {
		var incr *redis.IntCmd
		replies, err := rdb.Pipelined(t, func(pipe redis.Pipeliner) error {
			incr = pipe.Incr(t, "pipelined")
			pipe.Expire(t, "pipelined", time.Hour)
			pipe.Get(t, "missing")
			return nil
		})
		t.Is(err, redis.Nil) // of the last command
		t.Equal([]any{len(replies), incr.Val()}, []any{3, int64(1)})
	})
	run("a pipeline of 10,000 commands", func(t *check.T, rdb *redis.Client) {
		replies, err := rdb.Pipelined(t, func(pipe redis.Pipeliner) error {
			for range 10000 {
				pipe.Incr(t, "many")
			}
			return nil
		})
		t.OK(err)
		t.Equal(replies[9999].(*redis.IntCmd).Val(), int64(10000))
	})
	run("TxPipelined is a transaction", func(t *check.T, rdb *redis.Client) {
		var value *redis.StringCmd
		_, err := rdb.TxPipelined(t, func(pipe redis.Pipeliner) error {
			pipe.Set(t, "tx", "v", 0)
			value = pipe.Get(t, "tx")
			pipe.Do(t, "lpush", "tx", 1)
			return nil
		})
		t.Says(err, "WRONGTYPE")
		t.Equal(value.Val(), "v")
	})
	run("Watch detects a conflict", func(t *check.T, rdb *redis.Client) {
		err := rdb.Watch(t, func(tx *redis.Tx) error {
			rdb.Set(t, "watched", "other", 0)
			_, err := tx.TxPipelined(t, func(pipe redis.Pipeliner) error { return pipe.Set(t, "watched", "own", 0).Err() })
			return err
		}, "watched")
		t.Is(err, redis.TxFailedErr)
	})
	run("Watch increments without losses", func(t *check.T, rdb *redis.Client) {
		var group sync.WaitGroup
		for range 20 {
			group.Go(func() {
				for errors.Is(goRedisIncrement(t, rdb, "optimistic"), redis.TxFailedErr) {
				}
			})
		}
		group.Wait()
		t.Equal(rdb.Get(t, "optimistic").Val(), "20")
	})
	run("Script.Run falls back from EVALSHA to EVAL", func(t *check.T, rdb *redis.Client) {
		script := redis.NewScript(`return redis.call('INCRBY', KEYS[1], ARGV[1]) -- go-redis`)
		t.Equal(script.Exists(t, rdb).Val(), []bool{false})
		for want := range 2 {
			t.Equal(check.Must[any](t)(script.Run(t, rdb, []string{"scripted"}, 5).Result()), int64(5*(want+1)))
		}
		t.Equal(script.Exists(t, rdb).Val(), []bool{true})
		t.Says(script.RunRO(t, rdb, []string{"scripted"}, 1).Err(), "ERR Write commands are not allowed")
	})
	run("functions: FunctionLoad, FCall, FunctionList", func(t *check.T, rdb *redis.Client) {
		code := "#!lua name=gofuncs\nredis.register_function('double', function(keys, args) return args[1] * 2 end)"
		t.Equal(check.Must[string](t)(rdb.FunctionLoad(t, code).Result()), "gofuncs")
		t.Equal(check.Must[any](t)(rdb.FCall(t, "double", nil, 21).Result()), int64(42))
		list := check.Must[[]redis.Library](t)(rdb.FunctionList(t, redis.FunctionListQuery{WithCode: true}).Result())
		t.Equal([]any{list[0].Name, list[0].Functions[0].Name, list[0].Code}, []any{"gofuncs", "double", code})
		t.OK(rdb.FunctionDelete(t, "gofuncs").Err())
	})
}

// goRedisIncrement adds one to a key with optimistic locking.
func goRedisIncrement(t *check.T, rdb *redis.Client, key string) error {
	return rdb.Watch(t, func(tx *redis.Tx) error {
		n, err := tx.Get(t, key).Int()
		if err != nil && !errors.Is(err, redis.Nil) {
			return err
		}
		_, err = tx.TxPipelined(t, func(pipe redis.Pipeliner) error { return pipe.Set(t, key, n+1, 0).Err() })
		return err
	}, key)
}
