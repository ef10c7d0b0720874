package rlocksuite

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/rlock"
)

func (on suite) ARateLimiterHasRedissonsLayout(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	c := newClient(t, rdb, rlock.Options{ID: "me"})
	for _, k := range []struct {
		name   string
		kind   rlock.RateType
		suffix string
	}{{"all", rlock.Overall, ""}, {"mine", rlock.PerClient, ":me"}} {
		r := c.RateLimiter(k.name)
		config := rlock.RateConfig{Type: k.kind, Rate: 3, Interval: 20 * time.Second,
			KeepAlive: time.Minute}
		if set, err := r.TrySetRate(ctx, config); err != nil || !set {
			t.Fatal(set, err)
		}
		if set, err := r.TrySetRate(ctx, rlock.RateConfig{Rate: 9, Interval: time.Second}); err != nil ||
			set {
			t.Fatal(set, err)
		}
		if got, err := r.Config(ctx); err != nil || got != config {
			t.Fatal(got, err)
		}
		h := rdb.HGetAll(ctx, k.name).Val()
		if len(h) != 4 || h["rate"] != "3" || h["interval"] != "20000" ||
			h["keepAliveTime"] != "60000" || h["type"] != []string{"0", "1"}[k.kind] {
			t.Fatal(h)
		}
		must(t, r.Acquire(ctx, 2))
		value, permits := "{"+k.name+"}:value"+k.suffix, "{"+k.name+"}:permits"+k.suffix
		if got := rdb.Get(ctx, value).Val(); got != "1" {
			t.Fatal(got)
		}
		out := rdb.ZRange(ctx, permits, 0, -1).Val()
		if len(out) != 1 || len(out[0]) != 21 || out[0][0] != 16 || out[0][17:] != "\x02\x00\x00\x00" {
			t.Fatalf("%q", out)
		}
		for _, key := range []string{k.name, value, permits} {
			if ttl := rdb.PTTL(ctx, key).Val(); ttl < 50*time.Second || ttl > time.Minute {
				t.Fatal(key, ttl)
			}
		}
		is(t, 1, r.Available)
	}
	swept(t, rdb, 6)
}

func (on suite) PermitsOfARateAreFreeAgainAfterTheInterval(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	r := newClient(t, rdb, rlock.Options{}).RateLimiter("r")
	const interval = 200 * time.Millisecond
	var begin time.Time
	for within := false; !within; { // a busy machine may need longer than the interval
		must(t, r.SetRate(ctx, rlock.RateConfig{Rate: 2, Interval: interval}))
		begin = time.Now()
		must(t, r.Acquire(ctx, 1))
		must(t, r.Acquire(ctx, 1))
		err := r.Acquire(ctx, 1, rlock.Wait(0))
		n, failed := r.Available(ctx)
		must(t, failed)
		within = time.Since(begin) < interval-time.Millisecond
		if within && (!errors.Is(err, rlock.ErrTimeout) || n != 0) {
			t.Fatal(err, n)
		}
	}
	must(t, r.Acquire(ctx, 2)) // when both are free again
	// The server counts whole milliseconds.
	if d := time.Since(begin); d <= interval-time.Millisecond || d > patience {
		t.Fatalf("after %v", d)
	}
	must(t, r.Acquire(ctx, 2, rlock.Wait(time.Minute)))
	if d := time.Since(begin); d <= 2*interval-time.Millisecond || d > patience {
		t.Fatalf("after %v", d)
	}
	eventually(t, "all are back", func() bool {
		n, err := r.Available(ctx)
		return err == nil && n == 2
	})
}

func (on suite) AnAcquisitionThatCannotSucceedInTimeFailsAtOnce(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	r := newClient(t, rdb, rlock.Options{}).RateLimiter("r")
	must(t, r.SetRate(ctx, rlock.RateConfig{Rate: 1, Interval: time.Hour}))
	must(t, r.Acquire(ctx, 1))
	soon(t, start(func() error {
		if err := r.Acquire(ctx, 1, rlock.Wait(time.Minute)); !errors.Is(err, rlock.ErrTimeout) {
			return errors.Join(errors.New("not at once"), err)
		}
		return nil
	}))
}

func (on suite) AnIntervalNeverGrantsMoreThanTheRate(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	const rate, interval = 5, 60 * time.Millisecond
	must(t, newClient(t, rdb, rlock.Options{}).RateLimiter("r").SetRate(ctx,
		rlock.RateConfig{Rate: rate, Interval: interval}))
	var workers []<-chan error
	begin := time.Now()
	for range 4 {
		r := newClient(t, rdb, rlock.Options{}).RateLimiter("r")
		workers = append(workers, start(func() error {
			for range 5 {
				if err := r.Acquire(ctx, 1); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	for _, done := range workers {
		soon(t, done)
	}
	if d := time.Since(begin); d < 3*interval {
		t.Fatalf("20 permits after %v", d)
	}
}

func (on suite) APerClientRateCountsEachClientAlone(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	a := newClient(t, rdb, rlock.Options{}).RateLimiter("r")
	b := newClient(t, rdb, rlock.Options{}).RateLimiter("r")
	must(t, a.SetRate(ctx, rlock.RateConfig{Type: rlock.PerClient, Rate: 1, Interval: time.Hour}))
	must(t, a.Acquire(ctx, 1, rlock.Wait(0)))
	must(t, b.Acquire(ctx, 1, rlock.Wait(0)))
	for _, r := range []*rlock.RateLimiter{a, b} {
		if err := r.Acquire(ctx, 1, rlock.Wait(0)); !errors.Is(err, rlock.ErrTimeout) {
			t.Fatal(err)
		}
	}
	must(t, a.SetRate(ctx, rlock.RateConfig{Rate: 1, Interval: time.Hour}))
	must(t, a.Acquire(ctx, 1, rlock.Wait(0)))
	if err := b.Acquire(ctx, 1, rlock.Wait(0)); !errors.Is(err, rlock.ErrTimeout) {
		t.Fatal(err)
	}
}

func (on suite) ReleasedPermitsAreNeverMoreThanTheRate(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	r := newClient(t, rdb, rlock.Options{}).RateLimiter("r")
	must(t, r.SetRate(ctx, rlock.RateConfig{Rate: 3, Interval: time.Hour}))
	must(t, r.Acquire(ctx, 2))
	must(t, r.Release(ctx, 1))
	is(t, 2, r.Available)
	must(t, r.Release(ctx, 9))
	is(t, 3, r.Available)
	old := "\x10the request of old\x02\x00\x00\x00"
	old = old[:17] + old[len(old)-4:]
	rdb.ZAdd(ctx, "{r}:permits", redis.Z{Score: 1, Member: old})
	is(t, 1, r.Available) // two granted permits are still within the interval
	if n := rdb.ZCard(ctx, "{r}:permits").Val(); n != 1 {
		t.Fatal(n)
	}
	rdb.Set(ctx, "{r}:value", 5, 0) // as Redisson may leave it after a release
	is(t, 1, r.Available)
}

func (on suite) ALimiterWithoutARateReturnsErrNoRate(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	r := newClient(t, rdb, rlock.Options{}).RateLimiter("r")
	_, configErr := r.Config(ctx)
	_, availableErr := r.Available(ctx)
	for _, err := range []error{r.Acquire(ctx, 1), r.Release(ctx, 1), configErr, availableErr} {
		if !errors.Is(err, rlock.ErrNoRate) {
			t.Error(err)
		}
	}
	must(t, r.SetRate(ctx, rlock.RateConfig{Rate: 2, Interval: time.Second, KeepAlive: time.Minute}))
	if err := r.Acquire(ctx, 3); !errors.Is(err, rlock.ErrOverRate) {
		t.Fatal(err)
	}
	must(t, r.SetRate(ctx, rlock.RateConfig{Rate: 2, Interval: time.Second}))
	if ttl := rdb.PTTL(ctx, "r").Val(); ttl >= 0 {
		t.Fatal(ttl)
	}
	if err := r.SetRate(ctx, rlock.RateConfig{}); err == nil {
		t.Fatal("set no rate")
	}
	swept(t, rdb, 1)
}
