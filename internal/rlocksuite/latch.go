package rlocksuite

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lockredis/lockredis/rlock"
)

func (on suite) WaitersOfALatchWaitUntilZero(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	a, b := newClient(t, rdb, rlock.Options{}), newClient(t, rdb, rlock.Options{})
	l := a.CountDownLatch("l")
	heard := messages(t, rdb, "redisson_countdownlatch__channel__{l}")
	for _, first := range []bool{true, false} {
		if set, err := l.TrySetCount(ctx, 2); err != nil || set != first {
			t.Fatal(set, err)
		}
	}
	if got := rdb.Get(ctx, "l").Val(); got != "2" {
		t.Fatalf("left %q", got)
	}
	var waiting []<-chan error
	for range 10 {
		waiting = append(waiting, start(func() error { return l.Await(ctx) }))
		waiting = append(waiting, start(func() error { return b.CountDownLatch("l").Await(ctx) }))
	}
	if err := l.Await(ctx, rlock.Wait(20*time.Millisecond)); !errors.Is(err, rlock.ErrTimeout) {
		t.Fatal(err)
	}
	must(t, l.CountDown(ctx))
	is(t, 1, l.Count)
	if err := l.Await(ctx, rlock.Wait(0)); !errors.Is(err, rlock.ErrTimeout) {
		t.Fatal(err)
	}
	must(t, l.CountDown(ctx))
	for _, done := range waiting {
		soon(t, done)
	}
	is(t, 0, l.Count)
	hear(t, heard, "1", "0")
	must(t, l.CountDown(ctx))
	must(t, l.Await(ctx, rlock.Wait(0)))
	swept(t, rdb, 0)
	_, err := l.TrySetCount(ctx, 1)
	must(t, err)
	hear(t, heard, "1") // a count-down of an open latch published nothing
}
