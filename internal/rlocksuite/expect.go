package rlocksuite

import (
	"context"
	"errors"
	"maps"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/rlock"
)

// patience is how long a test waits for an event that should happen at once. Leases
// that would also cause the event last at least twice as long.
const patience = 10 * time.Second

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func mustTimeOut(t testing.TB, err error) {
	t.Helper()
	if !errors.Is(err, rlock.ErrTimeout) {
		t.Fatalf("error is not ErrTimeout: %v", err)
	}
}

// MustHold checks the contents of the server; see Contents.
func MustHold(t testing.TB, rdb redis.UniversalClient, want map[string]string) {
	t.Helper()
	if got := Contents(t, rdb); !maps.Equal(got, want) {
		t.Fatalf("the server holds\n%v, not\n%v", got, want)
	}
}

// MustLive checks a key's time to live. It may be up to 8 s shorter than want, for busy
// machines. Leases in a test differ by more.
func MustLive(t testing.TB, rdb redis.UniversalClient, key string, want time.Duration) {
	t.Helper()
	if got := rdb.PTTL(context.Background(), key).Val(); got > want || got < want-8*time.Second {
		t.Fatalf("%s lives for %v, not %v", key, got, want)
	}
}

// eventually waits until f is true.
func eventually(t testing.TB, what string, f func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); time.Now().Before(end); <-tick.C {
		if f() {
			return
		}
	}
	t.Fatalf("never: %s", what)
}

// is checks that f returns want.
func is(t testing.TB, want int, f func(context.Context) (int, error)) {
	t.Helper()
	got, err := f(context.Background())
	if err != nil || got != want {
		t.Fatalf("is %d, %v, want %d", got, err, want)
	}
}

// Acquire acquires l.
func Acquire(t testing.TB, ctx context.Context, l *rlock.Lock, o ...rlock.Option) *rlock.Hold {
	t.Helper()
	h, err := l.Acquire(ctx, o...)
	must(t, err)
	return h
}

// Release releases holds that are not lost, in the given order.
func Release(t testing.TB, holds ...*rlock.Hold) {
	t.Helper()
	for _, h := range holds {
		must(t, h.Release(context.Background()))
	}
}

// Try tries once to acquire l, and returns the error. If l is free, Try releases it.
func Try(ctx context.Context, l *rlock.Lock, o ...rlock.Option) error {
	h, err := l.Acquire(ctx, append([]rlock.Option{rlock.Wait(0)}, o...)...)
	if err != nil {
		return err
	}
	return h.Release(context.WithoutCancel(ctx))
}

// Acquiring is an acquisition on a goroutine of its own.
type Acquiring struct {
	done chan struct{} // closed when hold and err are set
	hold *rlock.Hold
	err  error
}

// Begin starts to acquire l.
func Begin(ctx context.Context, l *rlock.Lock, o ...rlock.Option) *Acquiring {
	a := &Acquiring{done: make(chan struct{})}
	go func() {
		defer close(a.done)
		a.hold, a.err = l.Acquire(ctx, o...)
	}()
	return a
}

// Result waits for the result of the acquisition.
func (a *Acquiring) Result() (*rlock.Hold, error) {
	<-a.done
	return a.hold, a.err
}

// Hold waits for the hold, at most for 10 s.
func (a *Acquiring) Hold(t testing.TB) *rlock.Hold {
	t.Helper()
	select {
	case <-a.done:
		must(t, a.err)
	case <-time.After(patience):
		t.Fatal("still waiting")
	}
	return a.hold
}

// start runs f on a goroutine and returns a channel with its error.
func start(f func() error) <-chan error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	return done
}

// soon waits for the result of start, at most for patience.
func soon(t testing.TB, done <-chan error) {
	t.Helper()
	select {
	case err := <-done:
		must(t, err)
	case <-time.After(patience):
		t.Fatal("still waiting")
	}
}

// hear checks that the given messages arrive, in this order.
func hear(t testing.TB, heard <-chan *redis.Message, want ...string) {
	t.Helper()
	for _, w := range want {
		select {
		case m := <-heard:
			if m.Payload != w {
				t.Fatalf("published %q, want %q", m.Payload, w)
			}
		case <-time.After(patience):
			t.Fatalf("nothing published, want %q", w)
		}
	}
}
