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
	endless := acquirePermits(t, p, 1, rlock.NoLease()).IDs()[0]
	before := rdb.Time(ctx).Val().UnixMilli()
	leased := acquirePermits(t, p, 1, rlock.Lease(10*time.Second)).IDs()[0]
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
	ids := acquirePermits(t, p, 3).IDs()
	must(t, p.Release(ctx, ids[:2]...))
	hear(t, heard, "2", "1", "2", "5", "2", "5")
	swept(t, rdb, 2) // a release by ids leaves a latch against a late acquisition
}

func acquirePermits(t testing.TB, p *rlock.PermitSemaphore, n int, o ...rlock.Option) *rlock.PermitHold {
	t.Helper()
	h, err := p.Acquire(context.Background(), n, o...)
	must(t, err)
	return h
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
	ids := acquirePermits(t, p, 3, rlock.Lease(time.Minute)).IDs()
	counts(1, 3, 4)
	if _, err := p.Acquire(ctx, 2, rlock.Wait(20*time.Millisecond)); !errors.Is(err, rlock.ErrTimeout) {
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
	if err := p.Release(ctx, ids...); !errors.Is(err, rlock.ErrNotHeld) {
		t.Fatal(err)
	}
	counts(3, 2, 5)
	must(t, p.Release(ctx, ids[1:]...))
	counts(5, 0, 5)
	for _, id := range []string{"", "nonsense", ids[0] + "00"} {
		if err := p.Release(ctx, id); !errors.Is(err, rlock.ErrNotHeld) {
			t.Fatal(err)
		}
	}
}

func (on suite) SetLeaseChangesAPermitsLease(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	p := newClient(t, rdb, rlock.Options{}).PermitSemaphore("p")
	must(t, p.SetPermits(ctx, 1))
	id := acquirePermits(t, p, 1, rlock.Lease(time.Minute)).IDs()[0]
	between := func(low, high time.Duration) {
		t.Helper()
		if d, err := p.LeaseTime(ctx, id); err != nil || d <= low || d > high {
			t.Fatal(d, err)
		}
	}
	between(50*time.Second, time.Minute)
	must(t, p.SetLease(ctx, id, rlock.Lease(time.Hour)))
	between(59*time.Minute, time.Hour)
	must(t, p.SetLease(ctx, id, rlock.NoLease()))
	if d, err := p.LeaseTime(ctx, id); err != nil || d >= 0 {
		t.Fatal(d, err)
	}
	must(t, p.SetLease(ctx, id, rlock.Lease(200*time.Millisecond)))
	eventually(t, "free", func() bool { n, err := p.Available(ctx); return err == nil && n == 1 })
	if err := p.SetLease(ctx, id, rlock.Lease(time.Hour)); !errors.Is(err, rlock.ErrNotHeld) {
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
	first := acquirePermits(t, p, 1, rlock.Lease(100*time.Millisecond))
	acquirePermits(t, q, 1)
	if d := time.Since(begin); d < 100*time.Millisecond || d > patience {
		t.Fatalf("after %v", d)
	}
	if err := p.Release(ctx, first.IDs()...); !errors.Is(err, rlock.ErrNotHeld) {
		t.Fatal(err)
	}
	if err := first.Release(ctx); !errors.Is(err, rlock.ErrLockLost) {
		t.Fatal(err)
	}
	is(t, 0, p.Available)
}

func (on suite) ReleaseFreesAPermitWithAnEndedLeaseAndReturnsErrNotHeld(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	p := newClient(t, rdb, rlock.Options{}).PermitSemaphore("p")
	must(t, p.SetPermits(ctx, 1))
	id := acquirePermits(t, p, 1, rlock.Lease(time.Minute)).IDs()[0]
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
	acquirePermits(t, p, 1)
	if ttl := rdb.PTTL(ctx, "{p}:timeout").Val(); ttl <= 0 || ttl > time.Minute {
		t.Fatal(ttl)
	}
}

// Another party releases one of the permits by its id.
func (on suite) PermitsThatWereReleasedInPartAreGivenBackByTheirHold(t *testing.T) {
	for _, option := range []rlock.Option{rlock.NoLease(), rlock.Lease(time.Hour)} {
		for i := range 2 {
			rdb := on.connect(t)
			ctx := context.Background()
			p := newClient(t, rdb, rlock.Options{}).PermitSemaphore("p")
			other := newClient(t, rdb, rlock.Options{}).PermitSemaphore("p")
			must(t, p.SetPermits(ctx, 2))
			h, err := p.Acquire(ctx, 2, option)
			must(t, err)
			must(t, other.Release(ctx, h.IDs()[i]))
			if err := other.Release(ctx, h.IDs()[i]); !errors.Is(err, rlock.ErrNotHeld) {
				t.Errorf("released again: %v", err)
			}
			if err := h.Release(ctx); !errors.Is(err, rlock.ErrLockLost) {
				t.Errorf("the hold is released with %v", err)
			}
			if n, err := other.Available(ctx); n != 2 || err != nil {
				t.Fatalf("permit %d released by its id, then the hold: %d of 2 are free, %v", i, n, err)
			}
		}
	}
}
