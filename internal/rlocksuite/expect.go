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

// MustLive checks a key's time to live. It may be up to 2 s shorter than want, for
// slow machines.
func MustLive(t testing.TB, rdb redis.UniversalClient, key string, want time.Duration) {
	t.Helper()
	if got := rdb.PTTL(context.Background(), key).Val(); got > want || got < want-2*time.Second {
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
