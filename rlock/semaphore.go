package rlock

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/internal/lockkeys"
)

// Semaphore is a number of permits that processes acquire and release: Redisson's
// RSemaphore, a counter in the key name. Release publishes the number of free
// permits on redisson_sc:{name}.
//
// The counter does not say which process has a permit. So the permits of a process
// that dies are lost for ever; PermitSemaphore has permits with a lease. And a
// request that changes the counter is sent only once: after an error that is not a
// reply of the server (a broken connection, a timeout) it is unknown whether the
// request ran. Such an acquisition is not undone, because it may not have happened;
// compare Available with the expected number. When ctx ends before the reply
// arrives, and the reply then grants the permits, they are released.
//
// Waiters are served in no particular order. Many goroutines may use a Semaphore.
type Semaphore struct {
	c       *Client
	name    string
	channel string
}

// Semaphore returns the semaphore of the given name. It has no permits until
// TrySetPermits, Release or Add is called.
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

	// semaphoreAcquire replies 1 if it acquired the permits or else 0, and the
	// number of free permits.
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

// TrySetPermits gives the semaphore n permits if it does not exist yet, and reports
// whether it did.
func (s *Semaphore) TrySetPermits(ctx context.Context, n int) (bool, error) {
	if err := checkCount("set permits", n); err != nil {
		return false, err
	}
	set, err := readInt(s.change(ctx, semaphoreTrySet, n))
	return set == 1, err
}

// Acquire waits until n permits are free and acquires them all at once. With n = 0
// it does nothing; a negative n is an error.
func (s *Semaphore) Acquire(ctx context.Context, n int) error { return s.acquire(ctx, n, forever) }

// TryAcquire is Acquire, but waits at most for wait and then returns ErrTimeout. A
// wait of 0 or less means a single try.
func (s *Semaphore) TryAcquire(ctx context.Context, n int, wait time.Duration) error {
	return s.acquire(ctx, n, max(wait, 0))
}

func (s *Semaphore) acquire(ctx context.Context, n int, wait time.Duration) error {
	if n <= 0 {
		return checkCount("acquire permits", n)
	}
	k := semaphoreAcquire.call([]string{s.name}, n)
	a := &acquisition{
		c: s.c, kind: semaphoreKind, name: s.name, channelName: s.channel, read: acquiredPermits,
		command: func(ctx context.Context) (any, error) { return s.c.runSynced(ctx, k, false) },
		undo: func(granted bool) {
			if granted {
				s.undoAcquire(n)
			}
		},
	}
	return a.obtain(ctx, wait)
}

// acquiredPermits reads {granted, free} and, from permitAcquire, the number of ms
// until the first lease ends.
func acquiredPermits(reply any) (grant, error) {
	r, err := readInts(reply, 2)
	if err != nil {
		return grant{}, err
	}
	g := grant{ok: r[0] == 1, more: r[1] > 0, ttl: -1}
	if len(r) > 2 {
		g.ttl = time.Duration(r[2]) * time.Millisecond
	}
	return g, nil
}

// undoAcquire releases n permits that were granted after their caller stopped
// waiting. It retries only after an error reply that says that the release did not
// run.
func (s *Semaphore) undoAcquire(n int) {
	k := s.call(semaphoreRelease, n)
	s.c.retryUntilAnswered(s.c.opts.Lease, func(ctx context.Context) (any, error) {
		reply, err := s.c.run(ctx, k, false)
		var e redis.Error
		if errors.As(err, &e) && isTemporary(e) {
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
	return s.c.awaitCallSynced(ctx, s.call(script, n), false)
}

// Release releases n permits and wakes waiters. It adds n permits even if they were
// not acquired before. When ctx ends, or has ended already, Release returns ctx's
// error and the release continues in the background; do not call it again. With
// n = 0 it does nothing; a negative n is an error.
func (s *Semaphore) Release(ctx context.Context, n int) error {
	if n <= 0 {
		return checkCount("release permits", n)
	}
	k := s.call(semaphoreRelease, n)
	send := func(ctx context.Context) (any, error) { return s.c.runSynced(ctx, k, false) }
	_, err := s.c.sendRelease(ctx, send, func(o outcome) {
		if o.err == nil {
			notify(s.c.opts.Observer.Released, Event{Kind: semaphoreKind, Name: s.name})
		}
	})
	return err
}

// Available returns the number of free permits. It is negative when Add removed
// more than there were.
func (s *Semaphore) Available(ctx context.Context) (int, error) {
	return s.c.counter(ctx, s.name)
}

// counter returns the number in a key, 0 if the key does not exist.
func (c *Client) counter(ctx context.Context, key string) (int, error) {
	reply, err := c.awaitRead(ctx, "get", key)
	if err != nil || reply == nil {
		return 0, err
	}
	text, _ := reply.(string)
	return strconv.Atoi(text)
}

// Drain acquires all free permits and returns their number.
func (s *Semaphore) Drain(ctx context.Context) (int, error) {
	return readInt(s.change(ctx, semaphoreDrain, 0))
}

// Add changes the number of permits by n, which may be negative. The number of free
// permits may become negative too, until enough are released.
func (s *Semaphore) Add(ctx context.Context, n int) error {
	_, err := s.change(ctx, semaphoreRelease, n)
	return err
}
