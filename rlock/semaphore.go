package rlock

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/internal/lockkeys"
)

// Semaphore is a number of permits that processes take and give back: Redisson's
// RSemaphore, a counter in the key of its name. Release publishes the number of
// free permits on redisson_sc:{name}.
//
// The counter does not name who has a permit. So a process that dies takes its
// permits along, for ever: see PermitSemaphore for permits with a lease. And the
// changing commands are never sent twice: after an error that is no answer of
// the server (the connection broke, a timeout) nobody knows whether the command
// ran. An acquisition like that is not undone, since what is undone may never
// have happened; only Drain and Available can tell. When ctx ends first and the
// answer comes later, the permits go back.
//
// There is no order among those who wait. A Semaphore may be used by many
// goroutines.
type Semaphore struct {
	c       *Client
	name    string
	channel string
}

// Semaphore returns the semaphore of the given name. It has no permits before
// TrySetPermits, Release or Add gave it some.
func (c *Client) Semaphore(name string) *Semaphore {
	return &Semaphore{c: c, name: name, channel: lockkeys.SemaphoreChannel(name)}
}

const semaphoreKind = "semaphore"

var (
	semaphoreTrySet = newScript(`
if redis.call('exists', KEYS[1]) == 1 then return 0 end
redis.call('set', KEYS[1], ARGV[1])
redis.call(ARGV[2], KEYS[2], ARGV[1])
return 1`)

	// Answers whether it took them, and what is left.
	semaphoreAcquire = newScript(`
local free = tonumber(redis.call('get', KEYS[1]) or 0)
if free < tonumber(ARGV[1]) then return {0, free} end
return {1, redis.call('decrby', KEYS[1], ARGV[1])}`)

	semaphoreRelease = newScript(`
local free = redis.call('incrby', KEYS[1], ARGV[1])
redis.call(ARGV[2], KEYS[2], free)
return free`)

	semaphoreDrain = newScript(`
local free = redis.call('get', KEYS[1])
if not free then return 0 end
redis.call('set', KEYS[1], 0)
return tonumber(free)`)
)

// Name returns the semaphore's name.
func (s *Semaphore) Name() string { return s.name }

// TrySetPermits gives the semaphore n permits if it has never had any, and
// reports whether it did.
func (s *Semaphore) TrySetPermits(ctx context.Context, n int) (bool, error) {
	if err := negative(n); err != nil {
		return false, err
	}
	set, err := number(s.change(ctx, semaphoreTrySet, n))
	return set == 1, err
}

// Acquire waits until n permits are free and takes them all at once. 0 takes
// none, and less is an error.
func (s *Semaphore) Acquire(ctx context.Context, n int) error { return s.acquire(ctx, n, forever) }

// TryAcquire is Acquire, but waits no longer than wait, 0 or less being not at
// all, and ends with ErrTimeout then.
func (s *Semaphore) TryAcquire(ctx context.Context, n int, wait time.Duration) error {
	return s.acquire(ctx, n, max(wait, 0))
}

func (s *Semaphore) acquire(ctx context.Context, n int, wait time.Duration) error {
	if n <= 0 {
		return negative(n)
	}
	k := semaphoreAcquire.call([]string{s.name}, n)
	a := &asking{
		c: s.c, kind: semaphoreKind, name: s.name, news: s.channel, read: acquiredPermits,
		ask: func(ctx context.Context) (any, error) { return s.c.runSynced(ctx, k, false) },
		takeBack: func(granted bool) {
			if granted {
				s.takeBack(n)
			}
		},
	}
	return a.obtain(ctx, wait)
}

// acquiredPermits reads {taken, left} and, where the script knows it, the
// milliseconds until somebody's permit ends.
func acquiredPermits(reply any) (grant, error) {
	r, err := numbers(reply, 2)
	if err != nil {
		return grant{}, err
	}
	g := grant{ok: r[0] == 1, more: r[1] > 0, ttl: -1}
	if len(r) > 2 {
		g.ttl = time.Duration(r[2]) * time.Millisecond
	}
	return g, nil
}

// takeBack releases permits that nobody got. It is sent again only after an
// answer that says that it did not run.
func (s *Semaphore) takeBack(n int) {
	k := s.call(semaphoreRelease, n)
	s.c.persist(s.c.opts.Lease, func(ctx context.Context) (any, error) {
		reply, err := s.c.run(ctx, k, false)
		var e redis.Error
		if errors.As(err, &e) && passing(e) {
			return nil, err
		}
		return reply, nil
	})
}

func (s *Semaphore) call(script *script, n int) call {
	return script.call([]string{s.name, s.channel}, n, s.c.topo.publish)
}

// change runs a script that must not run twice.
func (s *Semaphore) change(ctx context.Context, script *script, n int) (any, error) {
	return s.c.orderSynced(ctx, s.call(script, n), false)
}

// Release gives n permits back, or adds them if nobody had taken them, and wakes
// those who wait. When ctx ends, or has ended already, it returns ctx's error
// and the release goes on in the background: it must not be repeated. 0 gives none
// back, and less is an error.
func (s *Semaphore) Release(ctx context.Context, n int) error {
	if n <= 0 {
		return negative(n)
	}
	k := s.call(semaphoreRelease, n)
	_, err := s.c.giveBack(ctx, func(ctx context.Context) (any, error) { return s.c.runSynced(ctx, k, false) }, func(o outcome) {
		if o.err == nil {
			tell(s.c.opts.Observer.Released, Event{Kind: semaphoreKind, Name: s.name})
		}
	})
	return err
}

// Available returns how many permits are free. It is negative when Add took away
// more than there were.
func (s *Semaphore) Available(ctx context.Context) (int, error) {
	return s.c.counter(ctx, s.name)
}

// counter returns the number in a key, 0 where there is none.
func (c *Client) counter(ctx context.Context, key string) (int, error) {
	reply, err := c.ask(ctx, "get", key)
	if err != nil || reply == nil {
		return 0, err
	}
	text, _ := reply.(string)
	return strconv.Atoi(text)
}

// Drain takes all permits that are free and returns how many these were.
func (s *Semaphore) Drain(ctx context.Context) (int, error) {
	return number(s.change(ctx, semaphoreDrain, 0))
}

// Add changes the number of permits by n, which may be negative: so the number
// of free ones may become negative too, until enough are released.
func (s *Semaphore) Add(ctx context.Context, n int) error {
	_, err := s.change(ctx, semaphoreRelease, n)
	return err
}
