package soak

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// load runs all clients against the server.
type load struct {
	t    *testing.T
	addr string
	ctx  context.Context // done when the soak is over: clients begin no new step
	stop context.CancelFunc
	last context.Context // done when all steps have ended

	workers sync.WaitGroup
	done    sync.Map // name → *atomic.Int64: number of finished steps

	calm sync.RWMutex // read-locked by Redisson's steps, locked by endless scripts

	mu       sync.Mutex // guards the fields below
	failures int
	clients  []io.Closer
}

// manyFailures is the number of failures that ends a soak. More would show nothing new.
const manyFailures = 20

// fail reports that a client got an answer that Redis would not give.
func (l *load) fail(who string, err error) {
	if l.last.Err() != nil {
		return // the end of the soak
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failures++; l.failures <= manyFailures {
		l.t.Errorf("%s: %v", who, err)
	}
	if l.failures == manyFailures {
		l.stop()
	}
}

// count adds one to the number of finished steps of that name.
func (l *load) count(what string) {
	n, _ := l.done.LoadOrStore(what, new(atomic.Int64))
	n.(*atomic.Int64).Add(1)
}

// counted returns the number of finished steps of that name.
func (l *load) counted(what string) int64 {
	if n, ok := l.done.Load(what); ok {
		return n.(*atomic.Int64).Load()
	}
	return 0
}

// repeat runs step in a goroutine until the soak ends or step returns an error. pause is
// the time between two steps.
func (l *load) repeat(name string, pause time.Duration, step func() error) {
	l.workers.Go(func() {
		for l.ctx.Err() == nil {
			if err := step(); err != nil {
				l.fail(name, err)
				return
			}
			l.count(name)
			if !wait(l.ctx, pause) {
				return
			}
		}
	})
}

// wait waits for d. It returns false when the soak ends first.
func wait(ctx context.Context, d time.Duration) bool {
	if d == 0 {
		return ctx.Err() == nil
	}
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// client returns a go-redis client that sends each command only once and has long
// timeouts, because the machine and at times the server are busy.
func (l *load) client(connections int) *redis.Client {
	rdb := redis.NewClient(&redis.Options{Addr: l.addr, PoolSize: connections, MaxRetries: -1,
		DialTimeout: time.Minute,
		ReadTimeout: time.Minute, WriteTimeout: time.Minute, PoolTimeout: 2 * time.Minute})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clients = append(l.clients, rdb)
	return rdb
}

// hangUp closes all clients.
func (l *load) hangUp() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range slices.Backward(l.clients) {
		c.Close()
	}
	l.clients = nil
}

// patient repeats a command while the server refuses it because another client's script
// runs.
func patient(ctx context.Context, command func() error) error {
	for {
		err := command()
		if !busy(err) || !wait(ctx, 20*time.Millisecond) {
			return err
		}
	}
}

// busy reports whether err is Redis's answer while an endless script runs.
func busy(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "BUSY Redis is busy running a script") ||
		strings.Contains(err.Error(), "EXECABORT Transaction discarded because of previous errors."))
}

// model is a client with its own keys. It knows what each reply must be.
type model struct {
	l      *load
	rdb    *redis.Client
	rnd    *rand.Rand
	prefix string

	number int64
	hash   map[string]string
	list   []string
	scores map[string]float64
}

// errKind are error replies that a model provokes, byte for byte.
const (
	errWrongType = "WRONGTYPE Operation against a key holding the wrong kind of value"
	errInteger   = "ERR value is not an integer or out of range"
)

// run starts the model.
func (l *load) model(n int) {
	m := &model{l: l, rdb: l.client(2), rnd: rand.New(rand.NewPCG(uint64(n), 0)),
		prefix: fmt.Sprintf("model:{%d}:", n),
		hash:   map[string]string{}, scores: map[string]float64{}}
	steps := []func(context.Context) error{m.increment, m.setField, m.dropField, m.push, m.pop,
		m.score, m.rank, m.transact, m.script, m.lease, m.err, m.big}
	l.repeat("go-redis steps", 0, func() error {
		step := steps[m.rnd.IntN(len(steps))]
		return patient(l.last, func() error { return step(l.last) })
	})
}

func (m *model) key(name string) string { return m.prefix + name }

// same compares a reply with the expected one.
func same[T comparable](what string, got T, err error, want T) error {
	if err == nil && got != want {
		return fmt.Errorf("%s: got %v, want %v", what, got, want)
	}
	return err
}

func (m *model) increment(ctx context.Context) error {
	by := m.rnd.Int64N(1000) - 500
	got, err := m.rdb.IncrBy(ctx, m.key("number"), by).Result()
	if err == nil {
		m.number += by
	}
	return same("INCRBY", got, err, m.number)
}

func (m *model) setField(ctx context.Context) error {
	field, value := fmt.Sprint(m.rnd.IntN(300)), fmt.Sprint(m.rnd.Uint64())
	_, there := m.hash[field]
	got, err := m.rdb.HSet(ctx, m.key("hash"), field, value).Result()
	if err == nil {
		m.hash[field] = value
	}
	added := int64(1)
	if there {
		added = 0
	}
	return same("HSET", got, err, added)
}

func (m *model) dropField(ctx context.Context) error {
	field := fmt.Sprint(m.rnd.IntN(300))
	want, there := m.hash[field]
	got, err := m.rdb.HGet(ctx, m.key("hash"), field).Result()
	if errors.Is(err, redis.Nil) && !there {
		return nil
	}
	if err := same("HGET", got, err, want); err != nil {
		return err
	}
	n, err := m.rdb.HDel(ctx, m.key("hash"), field).Result()
	if err == nil {
		delete(m.hash, field)
	}
	return same("HDEL", n, err, 1)
}

func (m *model) push(ctx context.Context) error {
	value := strings.Repeat("x", m.rnd.IntN(200)) + fmt.Sprint(m.rnd.IntN(1000))
	got, err := m.rdb.RPush(ctx, m.key("list"), value).Result()
	if err == nil {
		m.list = append(m.list, value)
	}
	return same("RPUSH", got, err, int64(len(m.list)))
}

func (m *model) pop(ctx context.Context) error {
	got, err := m.rdb.LPop(ctx, m.key("list")).Result()
	if len(m.list) == 0 && errors.Is(err, redis.Nil) {
		return nil
	}
	if err != nil {
		return err
	}
	if len(m.list) == 0 {
		return fmt.Errorf("LPOP of an empty list: %q", got)
	}
	want := m.list[0]
	m.list = m.list[1:]
	return same("LPOP", got, nil, want)
}

func (m *model) score(ctx context.Context) error {
	member, score := fmt.Sprint(m.rnd.IntN(300)), float64(m.rnd.IntN(1000))/4
	if err := m.rdb.ZAdd(ctx, m.key("zset"), redis.Z{Member: member, Score: score}).Err(); err != nil {
		return err
	}
	m.scores[member] = score
	return nil
}

// rank compares ZCOUNT with the number of members whose score is at most a limit.
func (m *model) rank(ctx context.Context) error {
	limit := float64(m.rnd.IntN(1000)) / 4
	want := int64(0)
	for _, score := range m.scores {
		if score <= limit {
			want++
		}
	}
	got, err := m.rdb.ZCount(ctx, m.key("zset"), "-inf", fmt.Sprint(limit)).Result()
	return same("ZCOUNT", got, err, want)
}

func (m *model) transact(ctx context.Context) error {
	cmds, err := m.rdb.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.Incr(ctx, m.key("number"))
		p.HLen(ctx, m.key("hash"))
		p.LLen(ctx, m.key("list"))
		p.ZCard(ctx, m.key("zset"))
		return nil
	})
	if err != nil {
		return err
	}
	m.number++
	for i, want := range []int64{m.number, int64(len(m.hash)), int64(len(m.list)),
		int64(len(m.scores))} {
		if got := cmds[i].(*redis.IntCmd).Val(); got != want {
			return fmt.Errorf("EXEC's reply %d: got %d, want %d", i, got, want)
		}
	}
	return nil
}

// counting is a script that increments a counter, reads a hash, and uses cjson and
// struct.
var counting = redis.NewScript(`local n = redis.call('incrby', KEYS[1], ARGV[1]) local t = cjson.decode(cjson.encode({n, 'x'}))
return {n, redis.call('hlen', KEYS[2]), #t, (struct.unpack('I', struct.pack('I', 77)))}`)

func (m *model) script(ctx context.Context) error {
	got, err := counting.Run(ctx, m.rdb, []string{m.key("number"), m.key("hash")}, 3).Int64Slice()
	if err == nil {
		m.number += 3
	}
	return same("EVALSHA", fmt.Sprint(got), err, fmt.Sprint([]int64{m.number, int64(len(m.hash)), 2,
		77}))
}

// lease sets a key that must be gone when its lease has ended, by the client's own clock.
// judgeLeases counts the events of all leases.
func (m *model) lease(ctx context.Context) error {
	const ttl = 30 * time.Millisecond
	if err := m.rdb.Set(ctx, m.key("lease"), "x", ttl).Err(); err != nil {
		return err
	}
	m.l.count("leases")
	if !wait(ctx, ttl+2*time.Millisecond) {
		return nil
	}
	return patient(ctx, func() error {
		got, err := m.rdb.Exists(ctx, m.key("lease")).Result()
		return same("EXISTS of a lease that is over", got, err, 0)
	})
}

func (m *model) err(ctx context.Context) error {
	if err := m.rdb.Set(ctx, m.key("text"), "x", 0).Err(); err != nil {
		return err
	}
	for want, err := range map[string]error{
		errWrongType: m.rdb.LPush(ctx, m.key("text"), "y").Err(),
		errInteger:   m.rdb.Incr(ctx, m.key("text")).Err(),
	} {
		if busy(err) {
			return err
		}
		if err == nil || err.Error() != want {
			return fmt.Errorf("got %v, want %s", err, want)
		}
	}
	return nil
}

func (m *model) big(ctx context.Context) error {
	if m.rnd.IntN(10) > 0 {
		return nil
	}
	value := strings.Repeat(string(rune('a'+m.rnd.IntN(26))), m.rnd.IntN(1<<20))
	if err := m.rdb.Set(ctx, m.key("big"), value, 0).Err(); err != nil {
		return err
	}
	got, err := m.rdb.GetDel(ctx, m.key("big")).Result()
	if busy(err) {
		return nil // the next step sets the key again
	}
	return same("GETDEL", got == value, err, true)
}
