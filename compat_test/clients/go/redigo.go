package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/lockredis/lockredis/compat_test/clients/go/check"
)

func checkRedigo() {
	suite := check.New("redigo", "github.com/gomodule/redigo")
	pool := &redis.Pool{MaxIdle: 3, IdleTimeout: time.Minute,
		Dial: func() (redis.Conn, error) { return redis.Dial("tcp", addr) },
		TestOnBorrow: func(c redis.Conn, _ time.Time) error {
			_, err := c.Do("PING")
			return err
		}}
	defer pool.Close()
	run := func(name string, f func(t *check.T, c redis.Conn)) {
		suite.Run(name, func(t *check.T) {
			c := pool.Get()
			defer c.Close()
			f(t, c)
		})
	}
	redigoConnections(run, pool)
	redigoPipelines(run)
	redigoReplies(run)
	redigoServer(run)
	redigoPubSub(run)
}

type redigoRun = func(name string, f func(t *check.T, c redis.Conn))

// redigoDial returns a connection of its own for the check.
func redigoDial(t *check.T, options ...redis.DialOption) redis.Conn {
	c := check.Must[redis.Conn](t)(redis.Dial("tcp", addr, options...))
	t.Cleanup(func() { c.Close() })
	return c
}

func redigoConnections(run redigoRun, pool *redis.Pool) {
	run("DialURL and DialDatabase select a database", func(t *check.T, _ redis.Conn) {
		byURL := check.Must[redis.Conn](t)(redis.DialURL("redis://" + addr + "/7"))
		defer byURL.Close()
		check.Must[any](t)(byURL.Do("SET", "seven", "7"))
		c := redigoDial(t, redis.DialDatabase(7), redis.DialClientName("digger"))
		t.Equal(check.Must[string](t)(redis.String(c.Do("GET", "seven"))), "7")
		t.Equal(check.Must[string](t)(redis.String(c.Do("CLIENT", "GETNAME"))), "digger")
	})
	run("DialUsername and DialPassword", func(t *check.T, c redis.Conn) {
		check.Must[any](t)(c.Do("ACL", "SETUSER", "digger", "on", ">secret", "+ping"))
		defer c.Do("ACL", "DELUSER", "digger")
		user := redigoDial(t, redis.DialUsername("digger"), redis.DialPassword("secret"))
		check.Must[any](t)(user.Do("PING"))
		_, err := user.Do("GET", "a")
		t.Says(err, "NOPERM")
		_, err = redis.Dial("tcp", addr, redis.DialUsername("digger"), redis.DialPassword("wrong"))
		t.Says(err, "WRONGPASS")
	})
	run("a pool replaces a connection that the server ends", func(t *check.T, c redis.Conn) {
		one := pool.Get()
		id := check.Must[int64](t)(redis.Int64(one.Do("CLIENT", "ID")))
		one.Close()
		t.Equal(check.Must[int](t)(redis.Int(c.Do("CLIENT", "KILL", "ID", id))), 1)
		two := pool.Get()
		defer two.Close()
		check.Must[any](t)(two.Do("PING"))
	})
	run("a pool with Wait serves thirty goroutines", func(t *check.T, c redis.Conn) {
		small := &redis.Pool{MaxActive: 3, MaxIdle: 3, Wait: true,
			Dial: func() (redis.Conn, error) { return redis.Dial("tcp", addr) }}
		defer small.Close()
		var group sync.WaitGroup
		for range 30 {
			group.Go(func() {
				c := small.Get()
				defer c.Close()
				c.Do("INCR", "pooled")
			})
		}
		group.Wait()
		t.Equal(check.Must[int](t)(redis.Int(c.Do("GET", "pooled"))), 30)
		t.True(small.Stats().ActiveCount <= 3, "at most three connections")
	})
	run("a context and a timeout end a blocked call", func(t *check.T, _ redis.Conn) {
		ctx, cancel := context.WithTimeout(t, 30*time.Millisecond)
		defer cancel()
		_, err := redis.DoContext(redigoDial(t), ctx, "BLPOP", "never", 20)
		t.True(redigoTimeout(err), "a timeout of the context")
		_, err = redis.DoWithTimeout(redigoDial(t), 30*time.Millisecond, "BLPOP", "never", 20)
		t.True(redigoTimeout(err), "a timeout")
	})
}

// redigoTimeout reports whether a call ended because of a context's deadline or a timeout. A
// context's deadline is either, because redigo makes it a timeout of the socket, too.
func redigoTimeout(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded)
}

// redigoPipelines checks pipelines, transactions and scripts.
func redigoPipelines(run redigoRun) {
	run("Send, Flush and Receive are a pipeline", func(t *check.T, c redis.Conn) {
		for i := range 1000 {
			t.OK(c.Send("INCRBY", "sent", i))
		}
		t.OK(c.Flush())
		last := 0
		for range 1000 {
			last = check.Must[int](t)(redis.Int(c.Receive()))
		}
		t.Equal(last, 499500)
	})
	run("Do ends a pipeline and returns all replies", func(t *check.T, c redis.Conn) {
		t.OK(c.Send("SET", "p", 1))
		t.OK(c.Send("INCR", "p"))
		t.Equal(check.Must[[]any](t)(redis.Values(c.Do(""))), []any{"OK", int64(2)})
	})
	run("MULTI and EXEC with an error inside", func(t *check.T, c redis.Conn) {
		c.Send("MULTI")
		c.Send("SET", "m", "a")
		c.Send("INCR", "m")
		replies := check.Must[[]any](t)(redis.Values(c.Do("EXEC")))
		t.Equal(replies, []any{"OK", redis.Error("ERR value is not an integer or out of range")})
	})
	run("WATCH aborts a transaction", func(t *check.T, c redis.Conn) {
		check.Must[any](t)(c.Do("WATCH", "w"))
		check.Must[any](t)(redigoDial(t).Do("SET", "w", 1))
		c.Send("MULTI")
		c.Send("SET", "w", 2)
		_, err := redis.Values(c.Do("EXEC"))
		t.Is(err, redis.ErrNil)
	})
	run("Script loads and runs", func(t *check.T, c redis.Conn) {
		script := redis.NewScript(1, `return {redis.call('SET', KEYS[1], ARGV[1]).ok, KEYS[1]} -- redigo`)
		want := []string{"OK", "k"}
		t.Equal(check.Must[[]string](t)(redis.Strings(script.Do(c, "k", "v"))), want) // EVALSHA, then EVAL
		t.OK(script.SendHash(c, "k", "v"))
		t.OK(c.Flush())
		t.Equal(check.Must[[]string](t)(redis.Strings(c.Receive())), want)
		t.OK(script.Load(c))
	})
}

// redigoReplies checks how replies become values of Go.
func redigoReplies(run redigoRun) {
	run("Args and ScanStruct", func(t *check.T, c redis.Conn) {
		type album struct {
			Title  string `redis:"title"`
			Rating int    `redis:"rating"`
			Sold   bool   `redis:"sold"`
		}
		want, got := album{"Earthbound", 4, true}, album{}
		check.Must[any](t)(c.Do("HSET", redis.Args{}.Add("album").AddFlat(&want)...))
		t.OK(redis.ScanStruct(check.Must[[]any](t)(redis.Values(c.Do("HGETALL", "album"))), &got))
		t.Equal(got, want)
	})
	run("converters of replies", func(t *check.T, c redis.Conn) {
		check.Must[any](t)(c.Do("HSET", "h", "a", 1, "b", 2))
		t.Equal(check.Must[map[string]int](t)(redis.IntMap(c.Do("HGETALL", "h"))), map[string]int{"a": 1, "b": 2})
		check.Must[any](t)(c.Do("RPUSH", "l", "x", "y"))
		t.Equal(check.Must[[]string](t)(redis.Strings(c.Do("LRANGE", "l", 0, -1))), []string{"x", "y"})
		check.Must[any](t)(c.Do("GEOADD", "g", 13.5, 38.25, "p"))
		at := check.Must[[]*[2]float64](t)(redis.Positions(c.Do("GEOPOS", "g", "p", "none")))
		t.Equal([]string{fmt.Sprintf("%.3f", at[0][0]), fmt.Sprint(at[1] == nil)}, []string{"13.500", "true"})
		_, err := redis.String(c.Do("GET", "none"))
		t.Is(err, redis.ErrNil)
	})
	run("SORT with GET and ScanSlice", func(t *check.T, c redis.Conn) {
		for i, name := range []string{"Red", "Blue"} {
			c.Do("HSET", fmt.Sprintf("al:%d", i), "title", name, "rating", 5-i)
			c.Do("RPUSH", "als", i)
		}
		var albums []struct {
			Title  string
			Rating int
		}
		values := check.Must[[]any](t)(redis.Values(c.Do("SORT", "als", "BY", "al:*->rating", "GET", "al:*->title", "GET", "al:*->rating")))
		t.OK(redis.ScanSlice(values, &albums))
		t.Equal([]any{albums[0].Title, albums[1].Rating}, []any{"Blue", 5})
	})
	run("SCAN reaches every key", func(t *check.T, c redis.Conn) {
		for i := range 500 {
			c.Send("SET", fmt.Sprintf("it:%d", i), i)
		}
		check.Must[any](t)(c.Do(""))
		seen, cursor := map[string]bool{}, 0
		for first := true; first || cursor != 0; first = false {
			values := check.Must[[]any](t)(redis.Values(c.Do("SCAN", cursor, "MATCH", "it:*", "COUNT", 100)))
			var keys []string
			check.Must[[]any](t)(redis.Scan(values, &cursor, &keys))
			for _, key := range keys {
				seen[key] = true
			}
		}
		t.Equal(len(seen), 500)
	})
	run("streams as nested replies", func(t *check.T, c redis.Conn) {
		check.Must[any](t)(c.Do("XADD", "s", "1-1", "f", "v"))
		streams := check.Must[[]any](t)(redis.Values(c.Do("XREAD", "STREAMS", "s", "0")))
		stream := check.Must[[]any](t)(redis.Values(streams[0], nil))
		entries := check.Must[[]any](t)(redis.Values(stream[1], nil))
		entry := check.Must[[]any](t)(redis.Values(entries[0], nil))
		t.Equal(check.Must[map[string]string](t)(redis.StringMap(entry[1], nil)), map[string]string{"f": "v"})
	})
}

// redigoServer checks commands that wait, and what a server tells about itself.
func redigoServer(run redigoRun) {
	run("BLPOP waits for an element", func(t *check.T, c redis.Conn) {
		popped := make(chan []string, 1)
		waiting := redigoDial(t)
		go func() {
			pair, _ := redis.Strings(waiting.Do("BLPOP", "jobs", 20))
			popped <- pair
		}()
		check.Must[any](t)(c.Do("RPUSH", "jobs", "one"))
		t.Equal(check.Receive(t, popped), []string{"jobs", "one"})
	})
	run("SlowLogs and Latencies", func(t *check.T, c redis.Conn) {
		c.Do("CONFIG", "SET", "slowlog-log-slower-than", 0)
		c.Do("GET", "slow")
		c.Do("CONFIG", "SET", "slowlog-log-slower-than", 10000)
		logs := check.Must[[]redis.SlowLog](t)(redis.SlowLogs(c.Do("SLOWLOG", "GET", 10)))
		t.True(slices.ContainsFunc(logs, func(l redis.SlowLog) bool {
			return strings.Join(l.Args, " ") == "GET slow" && l.ClientAddr != ""
		}), "an entry for GET")
		check.Must[[]redis.Latency](t)(redis.Latencies(c.Do("LATENCY", "LATEST")))
	})
	run("MONITOR with Receive", func(t *check.T, c redis.Conn) {
		monitor := redigoDial(t)
		t.Equal(check.Must[string](t)(redis.String(monitor.Do("MONITOR"))), "OK")
		check.Must[any](t)(c.Do("ECHO", "seen"))
		line := ""
		for !strings.Contains(line, `"ECHO" "seen"`) {
			line = check.Must[string](t)(redis.String(redis.ReceiveContext(monitor, t)))
		}
	})
}

func redigoPubSub(run redigoRun) {
	run("PubSubConn receives messages, pongs and subscriptions", func(t *check.T, c redis.Conn) {
		sub := redis.PubSubConn{Conn: redigoDial(t)}
		t.OK(sub.Subscribe("news"))
		t.Equal(sub.Receive(), redis.Subscription{Kind: "subscribe", Channel: "news", Count: 1})
		t.OK(sub.PSubscribe("n*"))
		t.Equal(sub.Receive(), redis.Subscription{Kind: "psubscribe", Channel: "n*", Count: 2})
		t.Equal(check.Must[int](t)(redis.Int(c.Do("PUBLISH", "news", "hi"))), 2)
		t.Equal(sub.Receive(), redis.Message{Channel: "news", Data: []byte("hi")})
		t.Equal(sub.Receive(), redis.Message{Channel: "news", Pattern: "n*", Data: []byte("hi")})
		t.OK(sub.Ping("alive"))
		t.Equal(sub.Receive(), redis.Pong{Data: "alive"})
		t.OK(sub.Unsubscribe())
		t.Equal(sub.Receive(), redis.Subscription{Kind: "unsubscribe", Channel: "news", Count: 1})
	})
	run("ReceiveContext ends a wait for messages", func(t *check.T, _ redis.Conn) {
		sub := redis.PubSubConn{Conn: redigoDial(t)}
		t.OK(sub.Subscribe("silent"))
		sub.Receive()
		ctx, cancel := context.WithTimeout(t, 20*time.Millisecond)
		defer cancel()
		err, _ := sub.ReceiveContext(ctx).(error)
		t.True(redigoTimeout(err), "a timeout")
	})
	run("errors are redis.Error", func(t *check.T, c redis.Conn) {
		_, err := c.Do("NOSUCH")
		t.Equal(err, redis.Error("ERR unknown command 'NOSUCH', with args beginning with: "))
		check.Must[any](t)(c.Do("SET", "str", "a"))
		_, err = c.Do("LPUSH", "str", "b")
		t.Says(err, "WRONGTYPE Operation against a key")
		t.OK(c.Err()) // the connection is usable
	})
}
