package rlock_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/lockredistest"
	"github.com/lockredis/lockredis/rlock"
)

// replicas is a hook that makes the server report n replicas. confirm of them confirm a
// WAIT. It counts the requests.
type replicas struct {
	n, confirm  atomic.Int32
	syncing     atomic.Int32 // how many of n are in their first synchronization
	waits, want atomic.Int32 // number of WAITs; number of replicas in the last WAIT
}

func (*replicas) DialHook(next redis.DialHook) redis.DialHook { return next }

func (r *replicas) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if info, ok := cmd.(interface{ SetVal(any) }); ok && cmd.Name() == "info" {
			text := "# Replication\r\nrole:master\r\nconnected_slaves:" + strconv.Itoa(int(r.n.Load())) + "\r\n"
			for i := range r.n.Load() {
				state := "online"
				if i < r.syncing.Load() {
					state = []string{"wait_bgsave", "send_bulk"}[i%2]
				}
				text += fmt.Sprintf("slave%d:ip=127.0.0.1,port=%d,state=%s,offset=14,lag=0\r\n", i, 7000+i, state)
			}
			info.SetVal(text)
			return nil
		}
		return next(ctx, cmd)
	}
}

func (r *replicas) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if last := cmds[len(cmds)-1]; last.Name() == "wait" {
			r.waits.Add(1)
			n, _ := last.Args()[1].(int)
			r.want.Store(int32(n))
			err := next(ctx, cmds[:len(cmds)-1])
			last.(*redis.IntCmd).SetVal(int64(r.confirm.Load()))
			return err
		}
		return next(ctx, cmds)
	}
}

func TestAReplicaInItsFirstSynchronizationIsNotWaitedFor(t *testing.T) {
	rdb := connect(t)
	var r replicas
	rdb.AddHook(&r)
	r.n.Store(3)
	r.syncing.Store(2)
	r.confirm.Store(1)
	c := newClient(t, rdb, rlock.Options{Sync: rlock.SyncOn, SyncReplicas: 2})
	must(t, try(c.Lock("l")))
	if n := r.want.Load(); n != 1 {
		t.Errorf("waited for %d replicas", n)
	}
}

func TestANewReplicaIsWaitedFor(t *testing.T) {
	t.Parallel()
	rdb := connect(t)
	var r replicas
	rdb.AddHook(&r)
	c := newClient(t, rdb, rlock.Options{Sync: rlock.SyncOn})
	must(t, try(c.Lock("alone")))
	r.n.Store(1)
	eventually(t, "the replica is waited for", func() bool {
		return errors.Is(try(c.Lock("l"), rlock.Wait(time.Minute)), rlock.ErrNotSynced)
	})
}

func TestAReleaseWithoutAReplicasConfirmationSucceeds(t *testing.T) {
	rdb := connect(t)
	var r replicas
	r.n.Store(1)
	rdb.AddHook(&r)
	c := newClient(t, rdb, rlock.Options{Sync: rlock.SyncOn})
	s := c.Semaphore("s")
	must(t, s.Release(t.Context(), 2))
	if err := s.Acquire(t.Context(), 1); !errors.Is(err, rlock.ErrNotSynced) {
		t.Errorf("acquired with %v", err)
	}
	eventually(t, "the permit is released", func() bool {
		n, err := s.Available(t.Context())
		return n == 2 && err == nil
	})
}

func TestOneReplicaIsWaitedForUnlessMoreAreAskedFor(t *testing.T) {
	for ask, want := range map[int]int32{0: 1, 1: 1, 2: 2, 9: 3} {
		rdb := connect(t)
		var r replicas
		r.n.Store(3)
		r.confirm.Store(3)
		rdb.AddHook(&r)
		l := newClient(t, rdb, rlock.Options{Sync: rlock.SyncOn, SyncReplicas: ask}).Lock("l")
		h := acquire(t, l)
		if got := r.want.Load(); got != want {
			t.Errorf("SyncReplicas %d: %d replicas are waited for, not %d", ask, got, want)
		}
		before := r.waits.Load()
		release(t, h)
		if n := r.waits.Load() - before; n != 0 {
			t.Errorf("a release waits for replicas")
		}
	}
}

// absent is a hook that makes the server report a replica. It does not answer WAIT.
type absent struct{ replicas }

func (*absent) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func TestAReplicaThatHangsCostsTheSyncTimeout(t *testing.T) {
	for name, test := range map[string]struct {
		read, sync time.Duration
		options    []rlock.Option
	}{
		"a longer timeout of the client":  {3 * time.Second, time.Second, nil},
		"the same timeout":                {3 * time.Second, 3 * time.Second, nil},
		"a shorter timeout of the client": {500 * time.Millisecond, time.Second, nil},
		"a single try": {500 * time.Millisecond, 2 * time.Second,
			[]rlock.Option{rlock.Wait(0)}},
		"a longer wait for the lock": {500 * time.Millisecond, 2 * time.Second,
			[]rlock.Option{rlock.Wait(10 * time.Second)}},
	} {
		t.Run(name, func(t *testing.T) {
			virtually(t, func(t *testing.T) {
				srv := lockredistest.RunT(t)
				o := srv.Options()
				o.ReadTimeout = test.read
				rdb := redis.NewClient(o)
				defer rdb.Close()
				var r absent
				r.n.Store(1)
				rdb.AddHook(&r)
				warm(t, newClient(t, srv.Client(), rlock.Options{})) // WAIT follows an unknown script, too
				l := newClient(t, rdb, rlock.Options{
					Sync: rlock.SyncOn, SyncTimeout: test.sync, RetryFor: 30 * time.Second,
				}).Lock("l")
				start := time.Now()
				_, err := l.Acquire(t.Context(), test.options...)
				mustBe(t, rlock.ErrNotSynced, err)
				if took := time.Since(start); took < test.sync || took > test.sync+200*time.Millisecond {
					t.Errorf("failed after %s", took)
				}
				if n := srv.CommandCounts()["wait"]; n != 1 {
					t.Errorf("sent %d times", n)
				}
				eventually(t, "the lock is free", func() bool { return !srv.Exists("l") })
			})
		})
	}
}

// embedding is a client that rlock adds no hook to.
type embedding struct{ *redis.Client }

func TestAReplicaThatHangsCostsLessThanTheTimeoutOfAClientWithoutHooks(t *testing.T) {
	virtually(t, func(t *testing.T) {
		srv := lockredistest.RunT(t)
		o := srv.Options()
		o.ReadTimeout = time.Second
		rdb := redis.NewClient(o)
		defer rdb.Close()
		var r absent
		r.n.Store(1)
		rdb.AddHook(&r)
		warm(t, newClient(t, srv.Client(), rlock.Options{}))
		l := newClient(t, embedding{rdb}, rlock.Options{
			Sync: rlock.SyncOn, SyncTimeout: 3 * time.Second,
		}).Lock("l")
		start := time.Now()
		_, err := l.Acquire(t.Context())
		mustBe(t, rlock.ErrNotSynced, err)
		if took := time.Since(start); took > time.Second {
			t.Errorf("failed after %s", took)
		}
	})
}
