package rlock

import (
	"context"
	"errors"
	"time"
)

// Do locks, runs f and unlocks. f's context ends, with a cause that is
// ErrLockLost, the moment the lock cannot be trusted any more. The error is f's,
// joined with that of locking or unlocking. After the end of ctx the unlock is
// waited for only a moment.
func (l *Lock) Do(ctx context.Context, f func(context.Context) error) error {
	if err := l.Lock(ctx); err != nil {
		return err
	}
	lost := l.Lost()
	return doUntil(ctx, lost, func() error { return l.lossOf(lost) }, f, l.Unlock)
}

// doUntil runs f with a context that ends when lost is closed, and unlocks.
func doUntil(ctx context.Context, lost <-chan struct{}, loss func() error, f, unlock func(context.Context) error) (err error) {
	inner, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	watching := make(chan struct{})
	go func() {
		defer close(watching)
		select {
		case <-lost:
			cancel(loss())
		case <-done:
		}
	}()
	defer func() {
		close(done)
		<-watching
		cancel(nil)
		err = errors.Join(err, unlockAfter(ctx, unlock))
	}()
	return f(inner)
}

// grace is how long an unlock is waited for after the end of the context. Then
// it goes on in the background.
const grace = 100 * time.Millisecond

func unlockAfter(ctx context.Context, unlock func(context.Context) error) error {
	if ctx.Err() == nil {
		return unlock(ctx)
	}
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	err := unlock(limited)
	if limited.Err() != nil && errors.Is(err, limited.Err()) {
		return ctx.Err()
	}
	return err
}
