package rlock

import (
	"context"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/lockredis/lockredis/internal/lockkeys"
)

// PermitSemaphore is a semaphore whose permits have ids and may have a lease:
// Redisson's RPermitExpirableSemaphore. The key name counts the free permits. The
// sorted set {name}:timeout has the acquired permits; the score is the end of the
// lease in ms. Free permits are announced on the channel redisson_sc:{name}.
//
// A permit whose lease has ended is free for the next acquisition, and waiters know
// when that is. So after a crash the permits of the process are free when their
// leases end. A permit without a lease is then lost for ever. Only UpdateLease
// renews a lease. Leases are measured on the server's clock. Redisson uses its own
// clock, so the clocks of Java clients should agree with the server's.
//
// The client makes the ids of permits. So when a reply is lost and the request is
// sent again, the script finds the permits of the first run. Waiters are served in
// no particular order. Many goroutines may use a PermitSemaphore.
type PermitSemaphore struct {
	c    *Client
	name string
	keys []string // counter, leases, channel
}

// PermitSemaphore returns the semaphore of the given name. It has no permits until
// TrySetPermits, SetPermits or Add is called.
func (c *Client) PermitSemaphore(name string) *PermitSemaphore {
	keys := []string{name, lockkeys.PermitTimeouts(name), lockkeys.SemaphoreChannel(name)}
	return &PermitSemaphore{c: c, name: name, keys: keys}
}

const permitKind = "permit"

// Name returns the semaphore's name.
func (s *PermitSemaphore) Name() string { return s.name }

// TrySetPermits gives the semaphore n permits if it does not exist yet, and reports
// whether it did. The request is not retried when the reply is lost.
func (s *PermitSemaphore) TrySetPermits(ctx context.Context, n int) (bool, error) {
	if err := checkCount("set permits", n); err != nil {
		return false, err
	}
	keys := []string{s.keys[0], s.keys[2]}
	set, err := readInt(s.change(ctx, semaphoreTrySet, keys, false, n, s.c.topo.publish))
	return set == 1, err
}

// SetPermits sets the number of permits, acquired and free together, to n. If more
// are acquired, the number of free permits is negative until enough are released.
func (s *PermitSemaphore) SetPermits(ctx context.Context, n int) error {
	if err := checkCount("set permits", n); err != nil {
		return err
	}
	_, err := s.change(ctx, permitSet, s.keys, true, s.c.topo.publish, n)
	return err
}

// Add changes the number of permits by n, which may be negative. The request is not
// retried when the reply is lost.
func (s *PermitSemaphore) Add(ctx context.Context, n int) error {
	_, err := s.change(ctx, permitAdd, s.keys, false, s.c.topo.publish, n)
	return err
}

// change runs a script that changes the semaphore.
func (s *PermitSemaphore) change(
	ctx context.Context, script *script, keys []string, retry bool, args ...any,
) (any, error) {
	return s.c.awaitCallSynced(ctx, script.call(keys, args...), retry)
}

// Acquire waits until a permit is free and acquires it. The permit is free again
// when lease ends; 0 or less means no end. The lease is truncated to milliseconds,
// at least 1 ms. Acquire returns the permit's id for Release, 32 hexadecimal
// digits. Redisson uses the same id.
func (s *PermitSemaphore) Acquire(ctx context.Context, lease time.Duration) (id string, err error) {
	return single(s.acquire(ctx, 1, forever, lease))
}

// TryAcquire is Acquire, but waits at most for wait and then returns ErrTimeout. A
// wait of 0 or less means a single try.
func (s *PermitSemaphore) TryAcquire(
	ctx context.Context, wait, lease time.Duration,
) (id string, err error) {
	return single(s.acquire(ctx, 1, max(wait, 0), lease))
}

// AcquireN is Acquire for n permits at once, at most 100,000. With n = 0 it returns
// nil; a negative n is an error.
func (s *PermitSemaphore) AcquireN(
	ctx context.Context, n int, lease time.Duration,
) (ids []string, err error) {
	return s.acquire(ctx, n, forever, lease)
}

// TryAcquireN is TryAcquire for n permits at once.
func (s *PermitSemaphore) TryAcquireN(
	ctx context.Context, n int, wait, lease time.Duration,
) (ids []string, err error) {
	return s.acquire(ctx, n, max(wait, 0), lease)
}

func single(ids []string, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return ids[0], nil
}

// maxPermits is how many permits one call can acquire. Each is an argument of the
// script and a member of the sorted set.
const maxPermits = 100_000

func (s *PermitSemaphore) acquire(
	ctx context.Context, n int, wait, lease time.Duration,
) ([]string, error) {
	switch {
	case n <= 0:
		return nil, checkCount("acquire permits", n)
	case n > maxPermits:
		return nil, fmt.Errorf("rlock: acquire permits: %d is more than %d", n, maxPermits)
	}
	ids := make([]string, n)
	args := []any{s.c.topo.publish, noLease, leaseMS(lease)}
	undo := []any{s.c.topo.publish}
	for i := range ids {
		r := s.c.newRequestID()
		ids[i] = hex.EncodeToString(r[:])
		args, undo = append(args, r[:]), append(undo, r[:])
	}
	k, back := permitAcquire.call(s.keys, args...), permitUndo.call(s.keys, undo...)
	a := &acquisition{
		c: s.c, kind: permitKind, name: s.name, channelName: s.keys[2], read: acquiredPermits,
		command: func(ctx context.Context) (any, error) { return s.c.runSynced(ctx, k, true) },
		undo: func(bool) {
			s.c.retryUntilAnswered(s.undoTimeout(lease), func(ctx context.Context) (any, error) {
				return s.c.run(ctx, back, true)
			})
		},
	}
	if err := a.obtain(ctx, wait); err != nil {
		return nil, err
	}
	return ids, nil
}

// leaseMS returns a lease as the scripts take it: in ms, 0 for no end.
func leaseMS(lease time.Duration) int64 {
	if lease <= 0 {
		return 0
	}
	return max(lease.Milliseconds(), 1)
}

// undoTimeout is how long to retry the undo of an acquisition: the permit's lease,
// or Options.Lease if it has none.
func (s *PermitSemaphore) undoTimeout(lease time.Duration) time.Duration {
	if lease > 0 {
		return lease
	}
	return s.c.opts.Lease
}

// Release releases a permit. ErrNotHeld means that the permit was not held any
// more: it was released before, or its lease ended and another caller may have had
// it since. When ctx ends, or has ended already, or the server does not answer,
// Release returns the error and retries in the background for Options.Lease.
func (s *PermitSemaphore) Release(ctx context.Context, id string) error {
	return s.release(ctx, permitRelease, id)
}

// ReleaseN gives several permits back, or none and returns ErrNotHeld if any of
// them is not held any more. Otherwise it is like Release.
func (s *PermitSemaphore) ReleaseN(ctx context.Context, ids ...string) error {
	if len(ids) == 0 {
		return nil
	}
	return s.release(ctx, permitReleaseN, ids...)
}

func (s *PermitSemaphore) release(ctx context.Context, script *script, ids ...string) error {
	latch := s.c.newLatchKey(s.name)
	args := []any{s.c.topo.publish, latchTime(s.c.opts.Lease)}
	for _, id := range ids {
		raw, err := decodePermitID(id)
		if err != nil {
			return err
		}
		args = append(args, raw)
	}
	k, failed := script.call([]string{s.keys[0], s.keys[1], s.keys[2], latch}, args...), 0
	k.failed = &failed
	send := func(ctx context.Context) (any, error) { return s.c.runSynced(ctx, k, true) }
	reply, err := s.c.sendRelease(ctx, send, func(o outcome) { s.released(o, latch, &failed, send) })
	switch {
	case err != nil:
		return err
	case reply == int64(0):
		return ErrNotHeld
	}
	return nil
}

// released handles the outcome of a release. If the server did not answer, it
// retries in the background.
func (s *PermitSemaphore) released(
	o outcome, latch string, failed *int, send func(context.Context) (any, error),
) {
	if !answered(o.err) {
		s.c.goBackground(func() {
			if o := s.c.retryUntilAnswered(s.c.opts.Lease, send); answered(o.err) {
				s.released(o, latch, failed, send)
			}
		})
		return
	}
	if n, ok := o.reply.(int64); ok && n > 0 {
		s.c.sweep(latch, *failed, nil)
		notify(s.c.opts.Observer.Released, Event{Kind: permitKind, Name: s.name})
	}
}

// decodePermitID returns the 16 bytes that name the permit in Redis.
func decodePermitID(id string) ([]byte, error) {
	raw, err := hex.DecodeString(id)
	if err != nil || len(raw) != 16 {
		return nil, fmt.Errorf("%w: permit id %q is not 32 hexadecimal digits", ErrNotHeld, id)
	}
	return raw, nil
}

// UpdateLease makes a permit's lease end at lease from now; 0 or less means no end.
// ErrNotHeld has the same meaning as in Release.
func (s *PermitSemaphore) UpdateLease(ctx context.Context, id string, lease time.Duration) error {
	raw, err := decodePermitID(id)
	if err != nil {
		return err
	}
	done, err := readInt(s.change(ctx, permitUpdate, s.keys, true,
		s.c.topo.publish, noLease, leaseMS(lease), raw))
	if err == nil && done == 0 {
		err = ErrNotHeld
	}
	return err
}

// LeaseTime returns the rest of a permit's lease, in milliseconds. It is negative
// when the lease has no end. ErrNotHeld has the same meaning as in Release.
func (s *PermitSemaphore) LeaseTime(ctx context.Context, id string) (time.Duration, error) {
	raw, err := decodePermitID(id)
	if err != nil {
		return 0, err
	}
	ms, err := readInt(s.query(ctx, permitLeaseTime, s.c.topo.publish, noLease, raw))
	if err == nil && ms == 0 {
		err = ErrNotHeld
	}
	return time.Duration(ms) * time.Millisecond, err
}

// Available returns the number of free permits. It may be negative, see SetPermits
// and Add.
func (s *PermitSemaphore) Available(ctx context.Context) (int, error) {
	return readInt(s.query(ctx, permitAvailable, s.c.topo.publish))
}

// Acquired returns the number of acquired permits.
func (s *PermitSemaphore) Acquired(ctx context.Context) (int, error) {
	return readInt(s.query(ctx, permitAcquired, s.c.topo.publish))
}

// Permits returns the number of permits, acquired and free together.
func (s *PermitSemaphore) Permits(ctx context.Context) (int, error) {
	return readInt(s.query(ctx, permitTotal, s.c.topo.publish))
}

// query runs a script that changes nothing, except that it frees the permits whose
// lease has ended.
func (s *PermitSemaphore) query(ctx context.Context, script *script, args ...any) (any, error) {
	return s.c.awaitCall(ctx, script.call(s.keys, args...), true)
}
