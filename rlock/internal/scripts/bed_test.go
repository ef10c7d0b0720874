package scripts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/internal/redistest"
	"github.com/lockredis/lockredis/lockredistest"
)

// bed is a server on which scripts run, with an empty database.
type bed struct {
	t   testing.TB
	rdb *redis.Client
	sub *redis.PubSub

	place int // of the last change of a lease
}

// onEachServer runs f on lockredis, and on redis-server if it is installed.
func onEachServer(t *testing.T, f func(t *testing.T, b *bed)) {
	t.Run("lockredis", func(t *testing.T) {
		t.Parallel()
		f(t, newBed(t, lockredistest.RunT(t, lockredistest.AllowLeaks()).Client()))
	})
	t.Run("redis-server", func(t *testing.T) {
		t.Parallel()
		rdb := redis.NewClient(&redis.Options{Addr: redistest.Start(t).Addr})
		t.Cleanup(func() { rdb.Close() })
		f(t, newBed(t, rdb))
	})
}

func newBed(t *testing.T, rdb *redis.Client) *bed {
	b := &bed{t: t, rdb: rdb, sub: rdb.PSubscribe(t.Context(), "*")}
	t.Cleanup(func() { b.sub.Close() })
	if _, err := b.sub.Receive(t.Context()); err != nil {
		t.Fatal(err)
	}
	return b
}

// at returns b for a subtest, with an empty database.
func (b *bed) at(t *testing.T) *bed {
	t.Helper()
	fresh := &bed{t: t, rdb: b.rdb, sub: b.sub}
	fresh.do("flushall")
	fresh.messages()
	return fresh
}

func (b *bed) do(args ...any) any {
	b.t.Helper()
	v, err := b.rdb.Do(context.Background(), args...).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		b.t.Fatal(args, err)
	}
	return v
}

// try runs a script and returns its reply as text: 1, "" or [-1 7].
func (b *bed) try(s *Script, keys []string, args ...any) (string, error) {
	b.t.Helper()
	if err := s.Check(len(keys), len(args)); err != nil {
		b.t.Fatal(err)
	}
	ctx := context.Background()
	v, err := b.rdb.EvalSha(ctx, s.SHA.(string), keys, args...).Result()
	if err != nil && strings.HasPrefix(err.Error(), "NOSCRIPT") {
		v, err = b.rdb.Eval(ctx, s.Body, keys, args...).Result()
	}
	if errors.Is(err, redis.Nil) {
		return "nil", nil
	}
	return fmt.Sprint(v), err
}

func (b *bed) run(s *Script, keys []string, args ...any) string {
	b.t.Helper()
	v, err := b.try(s, keys, args...)
	if err != nil {
		b.t.Fatal(s.Name, err)
	}
	return v
}

// want runs a script and expects the reply.
func (b *bed) want(reply string, s *Script, keys []string, args ...any) {
	b.t.Helper()
	if got := b.run(s, keys, args...); got != reply {
		b.t.Fatalf("%s: reply %s, want %s", s.Name, got, reply)
	}
}

// messages returns what was published since the last call.
func (b *bed) messages() (all []string) {
	b.t.Helper()
	b.do("publish", "end", "")
	ctx, stop := context.WithTimeout(context.Background(), 10*time.Second)
	defer stop()
	for {
		m, err := b.sub.ReceiveMessage(ctx)
		if err != nil {
			b.t.Fatal(err)
		}
		if m.Channel == "end" {
			return all
		}
		all = append(all, m.Channel+" "+m.Payload)
	}
}

func (b *bed) wantMessages(want ...string) {
	b.t.Helper()
	if got := b.messages(); !slices.Equal(got, want) {
		b.t.Fatalf("messages %q, want %q", got, want)
	}
}

// state returns all keys but latches, with their values and without their times.
func (b *bed) state() string {
	b.t.Helper()
	ctx := context.Background()
	keys, err := b.rdb.Keys(ctx, "*").Result()
	if err != nil {
		b.t.Fatal(err)
	}
	slices.Sort(keys)
	var text []string
	for _, key := range keys {
		if strings.HasPrefix(key, "redisson_unlock_latch:") {
			continue
		}
		var v any
		switch b.rdb.Type(ctx, key).Val() {
		case "string":
			v = b.do("get", key)
		case "hash":
			v = b.do("hgetall", key)
		case "list":
			v = b.do("lrange", key, 0, -1)
		case "zset":
			v = b.do("zrange", key, 0, -1, "withscores")
		}
		text = append(text, fmt.Sprintf("%q=%q", key, fmt.Sprint(v)))
	}
	return strings.Join(text, " ")
}

func (b *bed) wantState(want, when string) {
	b.t.Helper()
	if got := b.state(); got != want {
		b.t.Fatalf("%s: state\n%s, want\n%s", when, got, want)
	}
}

// wantTTL checks the time to live of a key, of which up to 10 s may have passed.
func (b *bed) wantTTL(key string, want int64) {
	b.t.Helper()
	if ttl := b.do("pttl", key).(int64); ttl > want || ttl < want-10_000 {
		b.t.Errorf("%s lives %d ms, want %d", key, ttl, want)
	}
}

// full sets maxmemory so low that no command that needs memory runs, until the test
// ends.
func (b *bed) full() {
	b.t.Helper()
	b.do("config", "set", "maxmemory", "1")
	b.t.Cleanup(func() { b.rdb.ConfigSet(context.Background(), "maxmemory", "0") })
	if err := b.rdb.Set(context.Background(), "any", "", 0).Err(); err == nil {
		b.t.Fatal("SET works at maxmemory 1")
	}
}

// calls returns how many commands do runs inside of scripts.
func (b *bed) calls(do func()) (n int) {
	b.t.Helper()
	b.do("config", "resetstat")
	do()
	text, err := b.rdb.Info(context.Background(), "commandstats").Result()
	if err != nil {
		b.t.Fatal(err)
	}
	for line := range strings.Lines(text) {
		var calls int
		name, rest, ok := strings.Cut(line, ":calls=")
		if !ok {
			continue
		}
		switch strings.TrimPrefix(name, "cmdstat_") {
		case "evalsha", "eval", "info", "config|resetstat":
			continue
		}
		if _, err := fmt.Sscanf(rest, "%d", &calls); err != nil {
			b.t.Fatal(line, err)
		}
		n += calls
	}
	return n
}

// place returns the place of a change of a lease by one client, "0" without a number.
func place(number int) string {
	if number == 0 {
		return "0"
	}
	return fmt.Sprintf("c1:%d", number)
}

func latch(id string) string { return "redisson_unlock_latch:{l}:" + id }
