package rlocksuite

import (
	"context"
	"encoding/hex"
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/rlock"
)

func (on suite) APermitHasRedissonsLayout(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	p := newClient(t, rdb, rlock.Options{}).PermitSemaphore("p")
	heard := messages(t, rdb, "redisson_sc:{p}")
	for _, first := range []bool{true, false} {
		if set, err := p.TrySetPermits(ctx, 2); err != nil || set != first {
			t.Fatal(set, err)
		}
	}
	endless, err := p.Acquire(ctx, 0)
	must(t, err)
	before := rdb.Time(ctx).Val().UnixMilli()
	leased, err := p.Acquire(ctx, 10*time.Second)
	must(t, err)
	after := rdb.Time(ctx).Val().UnixMilli()
	got := rdb.Do(ctx, "eval", "return redis.call('zrange', KEYS[1], 0, -1, 'withscores')", 1,
		"{p}:timeout").Val().([]any)
	if len(got) != 4 || hex.EncodeToString([]byte(got[0].(string))) != leased ||
		hex.EncodeToString([]byte(got[2].(string))) != endless || got[3] != "922337203685477" {
		t.Fatalf("%q", got)
	}
	if end := int64(rdb.ZScore(ctx, "{p}:timeout", got[0].(string)).Val()); end < before+10_000 ||
		end > after+10_000 {
		t.Fatal(end, before)
	}
	if free := rdb.Get(ctx, "p").Val(); free != "0" {
		t.Fatal(free)
	}
	must(t, p.Release(ctx, endless))
	must(t, p.Release(ctx, leased))
	must(t, p.SetPermits(ctx, 5))
	must(t, p.Add(ctx, 2))
	must(t, p.Add(ctx, -1))
	must(t, p.SetPermits(ctx, 6))
	ids, err := p.AcquireN(ctx, 3, 0)
	must(t, err)
	must(t, p.ReleaseN(ctx, ids[:2]...))
	hear(t, heard, "2", "1", "2", "5", "2", "2")
	eventually(t, "no latches", func() bool { return len(allKeys(t, rdb)) == 2 })
}

func (on suite) PermitsAreCounted(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	p := newClient(t, rdb, rlock.Options{}).PermitSemaphore("p")
	counts := func(free, taken, all int) {
		t.Helper()
		is(t, free, p.Available)
		is(t, taken, p.Acquired)
		is(t, all, p.Permits)
	}
	counts(0, 0, 0)
	must(t, p.SetPermits(ctx, 4))
	ids, err := p.AcquireN(ctx, 3, time.Minute)
	must(t, err)
	counts(1, 3, 4)
	if _, err := p.TryAcquireN(ctx, 2, 20*time.Millisecond, 0); !errors.Is(err, rlock.ErrTimeout) {
		t.Fatal(err)
	}
	must(t, p.SetPermits(ctx, 2))
	counts(-1, 3, 2)
	must(t, p.Add(ctx, 3))
	counts(2, 3, 5)
	must(t, p.Release(ctx, ids[0]))
	counts(3, 2, 5)
	if err := p.Release(ctx, ids[0]); !errors.Is(err, rlock.ErrNotHeld) {
		t.Fatal(err)
	}
	if err := p.ReleaseN(ctx, ids...); !errors.Is(err, rlock.ErrNotHeld) {
		t.Fatal(err)
	}
	counts(3, 2, 5)
	must(t, p.ReleaseN(ctx, ids[1:]...))
	counts(5, 0, 5)
	for _, id := range []string{"", "nonsense", ids[0] + "00"} {
		if err := p.Release(ctx, id); !errors.Is(err, rlock.ErrNotHeld) {
			t.Fatal(err)
		}
	}
}

func (on suite) UpdateLeaseChangesAPermitsLease(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	p := newClient(t, rdb, rlock.Options{}).PermitSemaphore("p")
	must(t, p.SetPermits(ctx, 1))
	id, err := p.Acquire(ctx, time.Minute)
	must(t, err)
	between := func(low, high time.Duration) {
		t.Helper()
		if d, err := p.LeaseTime(ctx, id); err != nil || d <= low || d > high {
			t.Fatal(d, err)
		}
	}
	between(50*time.Second, time.Minute)
	must(t, p.UpdateLease(ctx, id, time.Hour))
	between(59*time.Minute, time.Hour)
	must(t, p.UpdateLease(ctx, id, 0))
	if d, err := p.LeaseTime(ctx, id); err != nil || d >= 0 {
		t.Fatal(d, err)
	}
	must(t, p.UpdateLease(ctx, id, 200*time.Millisecond))
	eventually(t, "free", func() bool { n, err := p.Available(ctx); return err == nil && n == 1 })
	if err := p.UpdateLease(ctx, id, time.Hour); !errors.Is(err, rlock.ErrNotHeld) {
		t.Fatal(err)
	}
	if _, err := p.LeaseTime(ctx, id); !errors.Is(err, rlock.ErrNotHeld) {
		t.Fatal(err)
	}
}

func (on suite) AWaiterGetsAPermitWhenItsLeaseEnds(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	p := newClient(t, rdb, rlock.Options{}).PermitSemaphore("p")
	q := newClient(t, rdb, rlock.Options{}).PermitSemaphore("p")
	must(t, p.SetPermits(ctx, 1))
	begin := time.Now()
	id, err := p.Acquire(ctx, 100*time.Millisecond)
	must(t, err)
	_, err = q.Acquire(ctx, 0)
	must(t, err)
	if d := time.Since(begin); d < 100*time.Millisecond || d > 5*time.Second {
		t.Fatalf("after %v", d)
	}
	if err := p.Release(ctx, id); !errors.Is(err, rlock.ErrNotHeld) {
		t.Fatal(err)
	}
	is(t, 0, p.Available)
}

func (on suite) ReleaseFreesAPermitWithAnEndedLeaseAndReturnsErrNotHeld(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	p := newClient(t, rdb, rlock.Options{}).PermitSemaphore("p")
	must(t, p.SetPermits(ctx, 1))
	id, err := p.Acquire(ctx, time.Minute)
	must(t, err)
	raw, _ := hex.DecodeString(id)
	rdb.ZAdd(ctx, "{p}:timeout", redis.Z{Score: 1, Member: string(raw)})
	if err := p.Release(ctx, id); !errors.Is(err, rlock.ErrNotHeld) {
		t.Fatal(err)
	}
	if free := rdb.Get(ctx, "p").Val(); free != "1" {
		t.Fatal(free)
	}
}

func (on suite) PermitsExpireWithTheirSemaphore(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	p := newClient(t, rdb, rlock.Options{}).PermitSemaphore("p")
	must(t, p.SetPermits(ctx, 1))
	rdb.PExpire(ctx, "p", time.Minute)
	_, err := p.Acquire(ctx, 0)
	must(t, err)
	if ttl := rdb.PTTL(ctx, "{p}:timeout").Val(); ttl <= 0 || ttl > time.Minute {
		t.Fatal(ttl)
	}
}
