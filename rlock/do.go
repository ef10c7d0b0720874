package rlock

import (
	"context"
	"errors"
	"time"
)

// Do locks, runs f and unlocks. f's context is canceled as soon as the lock can no
// longer be trusted; its cause is then ErrLockLost. If locking fails, Do returns
// that error and does not run f. Otherwise it returns the errors of f and of the
// unlock, joined. When ctx has ended, Do waits at most 100 ms for the unlock,
// which then continues in the background.
func (l *Lock) Do(ctx context.Context, f func(context.Context) error) error {
	if err := l.Lock(ctx); err != nil {
		return err
	}
	lost := l.Lost()
	return runWhileHeld(ctx, lost, func() error { return l.lossError(lost) }, f, l.Unlock)
}

// runWhileHeld runs f with a context that is canceled when lost is closed, and
// then unlocks. loss returns the cause.
func runWhileHeld(
	ctx context.Context, lost <-chan struct{}, loss func() error,
	f, unlock func(context.Context) error,
) (err error) {
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

// unlockGrace is how long Do waits for the unlock when its context has ended. The
// unlock then continues in the background.
const unlockGrace = 100 * time.Millisecond

func unlockAfter(ctx context.Context, unlock func(context.Context) error) error {
	if ctx.Err() == nil {
		return unlock(ctx)
	}
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), unlockGrace)
	defer cancel()
	err := unlock(limited)
	if limited.Err() != nil && errors.Is(err, limited.Err()) {
		return ctx.Err()
	}
	return err
}
