package main

import (
	"context"
	"time"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/compat_test/clients/go/check"
)

func checkRedislock() {
	suite := check.New("redislock", "github.com/bsm/redislock")
	rdb := redis.NewClient(&redis.Options{Addr: addr})
	defer rdb.Close()
	w := &redislockWorld{rdb, redislock.New(rdb)}
	run := func(name string, f func(t *check.T, key string)) {
		suite.Run(name, func(t *check.T) { f(t, "lock:"+name) })
	}
	w.checkHolds(run)
	w.checkLeases(run)
	w.checkWaits(run)
}

// redislockRun runs a check with a key of its own.
type redislockRun = func(name string, f func(t *check.T, key string))

// redislockWorld is what the checks share.
type redislockWorld struct {
	rdb    *redis.Client
	locker *redislock.Client
}

func (w *redislockWorld) obtain(t *check.T, key string, ttl time.Duration,
	options *redislock.Options) *redislock.Lock {
	return check.Must[*redislock.Lock](t)(w.locker.Obtain(t, key, ttl, options))
}

// refused checks that the lock is held.
func (w *redislockWorld) refused(t *check.T, key string, options *redislock.Options) {
	_, err := w.locker.Obtain(t, key, time.Minute, options)
	t.Is(err, redislock.ErrNotObtained)
}

// every returns options that try again after each interval.
func every(interval time.Duration) *redislock.Options {
	return &redislock.Options{RetryStrategy: redislock.LinearBackoff(interval)}
}

func (w *redislockWorld) checkHolds(run redislockRun) {
	run("Obtain sets the key with a deadline", func(t *check.T, key string) {
		lock := w.obtain(t, key, time.Minute, nil)
		t.Equal(w.rdb.Get(t, key).Val(), lock.Token()+lock.Metadata())
		t.True(w.rdb.PTTL(t, key).Val() > 50*time.Second, "the deadline")
		t.Equal(lock.Key(), key)
	})
	run("a second Obtain fails", func(t *check.T, key string) {
		w.obtain(t, key, time.Minute, nil)
		w.refused(t, key, nil)
	})
	run("Release frees the key", func(t *check.T, key string) {
		t.OK(w.obtain(t, key, time.Minute, nil).Release(t))
		t.Equal(w.rdb.Exists(t, key).Val(), int64(0))
		w.obtain(t, key, time.Minute, nil)
	})
	run("Release of an expired lock fails", func(t *check.T, key string) {
		lock := w.obtain(t, key, 10*time.Millisecond, nil)
		t.Await("the end of the lease", func() bool { return w.rdb.Exists(t, key).Val() == 0 })
		t.Is(lock.Release(t), redislock.ErrLockNotHeld)
	})
	run("Release leaves another owner's lock", func(t *check.T, key string) {
		lock := w.obtain(t, key, time.Minute, nil)
		w.rdb.Set(t, key, "other", time.Minute)
		t.Is(lock.Release(t), redislock.ErrLockNotHeld)
		t.Equal(w.rdb.Get(t, key).Val(), "other")
	})
}

// checkLeases checks how long a lock is held, and what is stored with it.
func (w *redislockWorld) checkLeases(run redislockRun) {
	run("Refresh extends the lease", func(t *check.T, key string) {
		lock := w.obtain(t, key, 10*time.Second, nil)
		t.OK(lock.Refresh(t, time.Hour, nil))
		t.True(w.rdb.PTTL(t, key).Val() > 50*time.Minute, "the new deadline")
	})
	run("Refresh of a lost lock fails", func(t *check.T, key string) {
		lock := w.obtain(t, key, time.Minute, nil)
		w.rdb.Del(t, key)
		t.Is(lock.Refresh(t, time.Minute, nil), redislock.ErrNotObtained)
	})
	run("TTL tells the remaining time", func(t *check.T, key string) {
		lock := w.obtain(t, key, time.Minute, nil)
		left := check.Must[time.Duration](t)(lock.TTL(t))
		t.True(left > 50*time.Second && left <= time.Minute, "about a minute")
	})
	run("TTL of a lost lock is 0", func(t *check.T, key string) {
		lock := w.obtain(t, key, time.Minute, nil)
		t.OK(lock.Release(t))
		t.Equal(check.Must[time.Duration](t)(lock.TTL(t)), time.Duration(0))
	})
	run("metadata", func(t *check.T, key string) {
		lock := w.obtain(t, key, time.Minute, &redislock.Options{Metadata: "my data"})
		t.Equal(lock.Metadata(), "my data")
		t.Equal(w.rdb.Get(t, key).Val(), lock.Token()+"my data")
	})
	run("a token of the caller obtains again", func(t *check.T, key string) {
		options := &redislock.Options{Token: "0123456789012345678901"}
		w.obtain(t, key, time.Minute, options)
		w.obtain(t, key, time.Hour, options)
		t.True(w.rdb.PTTL(t, key).Val() > 50*time.Minute, "the new deadline")
		w.refused(t, key, &redislock.Options{Token: "0123456789012345678902"})
	})
}

// checkWaits checks owners that wait for each other.
func (w *redislockWorld) checkWaits(run redislockRun) {
	run("LinearBackoff waits for the lease to end", func(t *check.T, key string) {
		w.obtain(t, key, 50*time.Millisecond, nil)
		w.obtain(t, key, time.Minute, every(10*time.Millisecond))
	})
	run("ExponentialBackoff waits for the release", func(t *check.T, key string) {
		lock := w.obtain(t, key, time.Minute, nil)
		time.AfterFunc(50*time.Millisecond, func() { lock.Release(context.Background()) })
		w.obtain(t, key, time.Minute, &redislock.Options{
			RetryStrategy: redislock.ExponentialBackoff(16*time.Millisecond, 64*time.Millisecond)})
	})
	run("LimitRetry gives up", func(t *check.T, key string) {
		w.obtain(t, key, time.Minute, nil)
		w.refused(t, key, &redislock.Options{
			RetryStrategy: redislock.LimitRetry(redislock.LinearBackoff(time.Millisecond), 3)})
	})
	run("a context ends the retries", func(t *check.T, key string) {
		w.obtain(t, key, time.Minute, nil)
		ctx, cancel := context.WithTimeout(t, 40*time.Millisecond)
		defer cancel()
		_, err := w.locker.Obtain(ctx, key, time.Minute, every(5*time.Millisecond))
		t.True(err != nil, "an error")
	})
	run("twenty goroutines exclude each other", func(t *check.T, key string) {
		exclude(t, 20, func() func() {
			lock, err := w.locker.Obtain(t, key, time.Minute, every(2*time.Millisecond))
			if err != nil {
				return nil
			}
			return func() { lock.Release(t) }
		})
	})
}
