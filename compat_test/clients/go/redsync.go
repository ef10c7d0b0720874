package main

import (
	"context"
	"errors"
	"time"

	"github.com/go-redsync/redsync/v4"
	redsyncpool "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/go-redsync/redsync/v4/redis/redigo"
	redigolib "github.com/gomodule/redigo/redis"
	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/compat_test/clients/go/check"
)

func checkRedsync() {
	suite := check.New("redsync", "github.com/go-redsync/redsync/v4")
	rdb := redis.NewClient(&redis.Options{Addr: addr})
	defer rdb.Close()
	old := &redigolib.Pool{Dial: func() (redigolib.Conn, error) { return redigolib.Dial("tcp", addr) }}
	defer old.Close()
	for name, pool := range map[string]redsyncpool.Pool{"go-redis": goredis.NewPool(rdb), "redigo": redigo.NewPool(old)} {
		rs := redsync.New(pool)
		run := func(check string, f redsyncCheck) {
			suite.Run("over "+name+": "+check, redsyncRun(f, rs, rdb, "mutex:"+name+check))
		}
		redsyncLocks(run)
		redsyncLosses(run)
		redsyncWaits(run)
	}
}

// redsyncCheck is a check with a key of its own. mutex returns a mutex on that key.
type redsyncCheck = func(t *check.T, rdb *redis.Client, key string, mutex func(...redsync.Option) *redsync.Mutex)

func redsyncRun(f redsyncCheck, rs *redsync.Redsync, rdb *redis.Client, key string) func(*check.T) {
	return func(t *check.T) {
		f(t, rdb, key, func(options ...redsync.Option) *redsync.Mutex { return rs.NewMutex(key, options...) })
	}
}

type redsyncMutex = func(...redsync.Option) *redsync.Mutex

type redsyncSuite = func(name string, f redsyncCheck)

func redsyncLocks(run redsyncSuite) {
	once := redsync.WithTries(1)
	run("Lock and Unlock", func(t *check.T, rdb *redis.Client, key string, mutex redsyncMutex) {
		m := mutex()
		t.OK(m.LockContext(t))
		t.Equal(rdb.Get(t, key).Val(), m.Value())
		t.True(time.Until(m.Until()) > 5*time.Second, "the default lease of eight seconds")
		t.Equal(check.Must[bool](t)(m.UnlockContext(t)), true)
		t.Equal(rdb.Exists(t, key).Val(), int64(0))
	})
	run("a taken lock is ErrTaken", func(t *check.T, _ *redis.Client, _ string, mutex redsyncMutex) {
		t.OK(mutex().LockContext(t))
		var taken *redsync.ErrTaken
		t.True(errors.As(mutex(once).LockContext(t), &taken), "ErrTaken")
		t.True(errors.As(mutex().TryLockContext(t), &taken), "ErrTaken of TryLock")
	})
	run("WithExpiry sets the deadline", func(t *check.T, rdb *redis.Client, key string, mutex redsyncMutex) {
		t.OK(mutex(redsync.WithExpiry(time.Hour)).LockContext(t))
		t.True(rdb.PTTL(t, key).Val() > 50*time.Minute, "an hour")
	})
	run("Extend starts the lease again", func(t *check.T, rdb *redis.Client, key string, mutex redsyncMutex) {
		m := mutex(redsync.WithExpiry(time.Minute))
		t.OK(m.LockContext(t))
		rdb.PExpire(t, key, time.Second)
		t.Equal(check.Must[bool](t)(m.ExtendContext(t)), true)
		t.True(rdb.PTTL(t, key).Val() > 50*time.Second, "a minute again")
	})
	run("a value of the caller", func(t *check.T, rdb *redis.Client, key string, mutex redsyncMutex) {
		t.OK(mutex(redsync.WithGenValueFunc(func() (string, error) { return "mine", nil })).LockContext(t))
		t.Equal(rdb.Get(t, key).Val(), "mine")
		t.Equal(check.Must[bool](t)(mutex(redsync.WithValue("mine")).UnlockContext(t)), true)
	})
}

// redsyncLosses checks locks that have ended, or belong to another owner.
func redsyncLosses(run redsyncSuite) {
	run("Extend of a lost lock fails", func(t *check.T, rdb *redis.Client, key string, mutex redsyncMutex) {
		m := mutex()
		t.OK(m.LockContext(t))
		rdb.Set(t, key, "other", 0)
		ok, err := m.ExtendContext(t)
		t.True(!ok && err != nil, "an error")
	})
	run("WithSetNXOnExtend takes a free key again", func(t *check.T, rdb *redis.Client, key string, mutex redsyncMutex) {
		m := mutex(redsync.WithSetNXOnExtend())
		t.OK(m.LockContext(t))
		rdb.Del(t, key)
		t.Equal(check.Must[bool](t)(m.ExtendContext(t)), true)
		t.Equal(rdb.Get(t, key).Val(), m.Value())
	})
	run("Unlock of an expired lock", func(t *check.T, rdb *redis.Client, key string, mutex redsyncMutex) {
		m := mutex()
		t.OK(m.LockContext(t))
		rdb.Del(t, key)
		ok, err := m.UnlockContext(t)
		t.Equal(ok, false)
		t.Is(err, redsync.ErrLockAlreadyExpired)
	})
	run("Unlock leaves another owner's lock", func(t *check.T, rdb *redis.Client, key string, mutex redsyncMutex) {
		m := mutex()
		t.OK(m.LockContext(t))
		rdb.Set(t, key, "other", 0)
		ok, _ := m.UnlockContext(t)
		t.Equal([]any{ok, rdb.Get(t, key).Val()}, []any{false, "other"})
	})
	run("Valid asks the server", func(t *check.T, rdb *redis.Client, key string, mutex redsyncMutex) {
		m := mutex()
		t.OK(m.LockContext(t))
		//lint:ignore SA1019 users of older releases call it
		t.Equal(check.Must[bool](t)(m.ValidContext(t)), true)
		rdb.Del(t, key)
		//lint:ignore SA1019 as above
		valid, _ := m.ValidContext(t)
		t.Equal(valid, false)
	})
}

// redsyncWaits checks owners that wait for each other.
func redsyncWaits(run redsyncSuite) {
	run("retries wait for the lease to end", func(t *check.T, _ *redis.Client, _ string, mutex redsyncMutex) {
		t.OK(mutex(redsync.WithExpiry(60 * time.Millisecond)).LockContext(t))
		t.OK(mutex(redsync.WithRetryDelay(10*time.Millisecond), redsync.WithTries(1000)).LockContext(t))
	})
	run("a context ends the retries", func(t *check.T, _ *redis.Client, _ string, mutex redsyncMutex) {
		t.OK(mutex().LockContext(t))
		ctx, cancel := context.WithTimeout(t, 40*time.Millisecond)
		defer cancel()
		t.True(mutex(redsync.WithRetryDelay(5*time.Millisecond), redsync.WithTries(10000)).LockContext(ctx) != nil, "an error")
	})
	run("fifteen goroutines exclude each other", redsyncExclusion)
}

func redsyncExclusion(t *check.T, _ *redis.Client, _ string, mutex redsyncMutex) {
	exclude(t, 15, func() func() {
		m := mutex(redsync.WithRetryDelay(3*time.Millisecond), redsync.WithTries(5000),
			redsync.WithFailFast(true))
		if m.LockContext(t) != nil {
			return nil
		}
		return func() { m.UnlockContext(t) }
	})
}
