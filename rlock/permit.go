package rlock

import (
	"context"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/lockredis/lockredis/internal/lockkeys"
)

// PermitSemaphore is a semaphore whose permits have names and may have a lease:
// Redisson's RPermitExpirableSemaphore. The key of its name counts the free
// permits; the sorted set {name}:timeout has those taken, by the time their
// lease ends in ms. redisson_sc:{name} announces permits.
//
// A permit whose lease is over is free for the next who asks; those who wait
// know when that is. So a process that dies costs its permits' leases, and a
// permit without a lease for ever. Nothing renews a lease but UpdateLease. Leases
// are measured by the server's clock; Redisson measures by its own, so the
// clocks of Java clients should agree with the server's.
//
// A permit's name is made here, so that a command that is sent again, because
// its reply was lost, finds what it did. There is no order among those who wait.
// A PermitSemaphore may be used by many goroutines.
type PermitSemaphore struct {
	c    *Client
	name string
	keys []string // counter, leases, channel
}

// PermitSemaphore returns the semaphore of the given name. It has no permits
// before TrySetPermits, SetPermits or Add gave it some.
func (c *Client) PermitSemaphore(name string) *PermitSemaphore {
	keys := []string{name, lockkeys.PermitTimeouts(name), lockkeys.SemaphoreChannel(name)}
	return &PermitSemaphore{c: c, name: name, keys: keys}
}

const permitKind = "permit"

// Name returns the semaphore's name.
func (s *PermitSemaphore) Name() string { return s.name }

// TrySetPermits gives the semaphore n permits if it has never had any, and
// reports whether it did. It is not sent again when the reply is lost.
func (s *PermitSemaphore) TrySetPermits(ctx context.Context, n int) (bool, error) {
	if err := negative(n); err != nil {
		return false, err
	}
	set, err := number(s.change(ctx, semaphoreTrySet, []string{s.keys[0], s.keys[2]}, false, n, s.c.topo.publish))
	return set == 1, err
}

// SetPermits makes n the number of permits, taken and free together. If more are
// taken the number of free ones is negative until they come back.
func (s *PermitSemaphore) SetPermits(ctx context.Context, n int) error {
	if err := negative(n); err != nil {
		return err
	}
	_, err := s.change(ctx, permitSet, s.keys, true, s.c.topo.publish, n)
	return err
}

// Add changes the number of permits by n, which may be negative. It is not sent
// again when the reply is lost.
func (s *PermitSemaphore) Add(ctx context.Context, n int) error {
	_, err := s.change(ctx, permitAdd, s.keys, false, s.c.topo.publish, n)
	return err
}

// change runs a script on the number of permits.
func (s *PermitSemaphore) change(ctx context.Context, script *script, keys []string, retry bool, args ...any) (any, error) {
	return s.c.orderSynced(ctx, script.call(keys, args...), retry)
}

// Acquire waits until a permit is free and takes it for lease, counted in
// milliseconds; 0 or less means without end. It returns the permit's id, 32
// hexadecimal digits, which Release wants. Redisson knows it by the same.
func (s *PermitSemaphore) Acquire(ctx context.Context, lease time.Duration) (id string, err error) {
	return one(s.acquire(ctx, 1, forever, lease))
}

// TryAcquire is Acquire, but waits no longer than wait, 0 or less being not at
// all, and ends with ErrTimeout then.
func (s *PermitSemaphore) TryAcquire(ctx context.Context, wait, lease time.Duration) (id string, err error) {
	return one(s.acquire(ctx, 1, max(wait, 0), lease))
}

// AcquireN is Acquire of n permits at once, 100,000 at most. 0 takes none and
// returns nil, and less is an error.
func (s *PermitSemaphore) AcquireN(ctx context.Context, n int, lease time.Duration) (ids []string, err error) {
	return s.acquire(ctx, n, forever, lease)
}

// TryAcquireN is TryAcquire of n permits at once.
func (s *PermitSemaphore) TryAcquireN(ctx context.Context, n int, wait, lease time.Duration) (ids []string, err error) {
	return s.acquire(ctx, n, max(wait, 0), lease)
}

func one(ids []string, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return ids[0], nil
}

// maxPermits is how many permits can be taken at once: each is an argument of a
// script, and a member of a sorted set.
const maxPermits = 100_000

func (s *PermitSemaphore) acquire(ctx context.Context, n int, wait, lease time.Duration) ([]string, error) {
	switch {
	case n <= 0:
		return nil, negative(n)
	case n > maxPermits:
		return nil, fmt.Errorf("rlock: %d permits at once, more than %d", n, maxPermits)
	}
	ids := make([]string, n)
	args := []any{s.c.topo.publish, noLease, milliseconds(lease)}
	undo := []any{s.c.topo.publish}
	for i := range ids {
		r := s.c.newRequest()
		ids[i] = hex.EncodeToString(r[:])
		args, undo = append(args, r[:]), append(undo, r[:])
	}
	k, back := permitAcquire.call(s.keys, args...), permitUndo.call(s.keys, undo...)
	a := &asking{
		c: s.c, kind: permitKind, name: s.name, news: s.keys[2], read: acquiredPermits,
		ask: func(ctx context.Context) (any, error) { return s.c.runSynced(ctx, k, true) },
		takeBack: func(bool) {
			s.c.persist(s.limit(lease), func(ctx context.Context) (any, error) { return s.c.run(ctx, back, true) })
		},
	}
	if err := a.obtain(ctx, wait); err != nil {
		return nil, err
	}
	return ids, nil
}

// milliseconds returns a lease as the scripts take it, 0 for none.
func milliseconds(lease time.Duration) int64 {
	if lease <= 0 {
		return 0
	}
	return max(lease.Milliseconds(), 1)
}

// limit is how long giving a permit back is worth trying.
func (s *PermitSemaphore) limit(lease time.Duration) time.Duration {
	if lease > 0 {
		return lease
	}
	return s.c.opts.Lease
}

// Release gives a permit back. ErrNotHeld tells that nobody had it any more: it
// was released before, or its lease was over and others may have had it since.
// When ctx ends, or has ended already, or the server does not answer, Release
// returns the error and goes on in the background, for Options.Lease.
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
	latch := s.c.latch(s.name)
	args := []any{s.c.topo.publish, latchTime(s.c.opts.Lease)}
	for _, id := range ids {
		raw, err := permitName(id)
		if err != nil {
			return err
		}
		args = append(args, raw)
	}
	k, failed := script.call([]string{s.keys[0], s.keys[1], s.keys[2], latch}, args...), 0
	k.failed = &failed
	send := func(ctx context.Context) (any, error) { return s.c.runSynced(ctx, k, true) }
	reply, err := s.c.giveBack(ctx, send, func(o outcome) { s.released(o, latch, &failed, send) })
	switch {
	case err != nil:
		return err
	case reply == int64(0):
		return ErrNotHeld
	}
	return nil
}

// released notes a release, and sends it again as long as nobody answered.
func (s *PermitSemaphore) released(o outcome, latch string, failed *int, send func(context.Context) (any, error)) {
	if !answered(o.err) {
		s.c.goBackground(func() {
			if o := s.c.persist(s.c.opts.Lease, send); answered(o.err) {
				s.released(o, latch, failed, send)
			}
		})
		return
	}
	if n, ok := o.reply.(int64); ok && n > 0 {
		s.c.sweep(latch, *failed, nil)
		tell(s.c.opts.Observer.Released, Event{Kind: permitKind, Name: s.name})
	}
}

// permitName returns a permit's name in Redis.
func permitName(id string) ([]byte, error) {
	raw, err := hex.DecodeString(id)
	if err != nil || len(raw) != 16 {
		return nil, fmt.Errorf("%w: %q is no permit's id", ErrNotHeld, id)
	}
	return raw, nil
}

// UpdateLease lets a permit's lease end after lease from now; 0 or less means
// without end. ErrNotHeld is as in Release.
func (s *PermitSemaphore) UpdateLease(ctx context.Context, id string, lease time.Duration) error {
	raw, err := permitName(id)
	if err != nil {
		return err
	}
	done, err := number(s.change(ctx, permitUpdate, s.keys, true, s.c.topo.publish, noLease, milliseconds(lease), raw))
	if err == nil && done == 0 {
		err = ErrNotHeld
	}
	return err
}

// LeaseTime returns how long a permit will be held, in steps of a millisecond;
// less than 0 means without end. ErrNotHeld is as in Release.
func (s *PermitSemaphore) LeaseTime(ctx context.Context, id string) (time.Duration, error) {
	raw, err := permitName(id)
	if err != nil {
		return 0, err
	}
	ms, err := number(s.ask(ctx, permitLeaseTime, s.c.topo.publish, noLease, raw))
	if err == nil && ms == 0 {
		err = ErrNotHeld
	}
	return time.Duration(ms) * time.Millisecond, err
}

// Available returns how many permits are free. It may be negative, see
// SetPermits and Add.
func (s *PermitSemaphore) Available(ctx context.Context) (int, error) {
	return number(s.ask(ctx, permitAvailable, s.c.topo.publish))
}

// Acquired returns how many permits are taken.
func (s *PermitSemaphore) Acquired(ctx context.Context) (int, error) {
	return number(s.ask(ctx, permitAcquired, s.c.topo.publish))
}

// Permits returns how many permits there are, taken and free together.
func (s *PermitSemaphore) Permits(ctx context.Context) (int, error) {
	return number(s.ask(ctx, permitTotal, s.c.topo.publish))
}

// ask runs a script that changes nothing but what is over.
func (s *PermitSemaphore) ask(ctx context.Context, script *script, args ...any) (any, error) {
	return s.c.order(ctx, script.call(s.keys, args...), true)
}
