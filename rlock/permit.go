package rlock

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lockredis/lockredis/internal/lockkeys"
	"github.com/lockredis/lockredis/rlock/internal/scripts"
	"github.com/lockredis/lockredis/rlock/internal/sender"
)

// PermitSemaphore is a semaphore whose permits have ids and may have a lease:
// Redisson's RPermitExpirableSemaphore. The key name counts the free permits. The
// sorted set {name}:timeout has the acquired permits; the score is the end of the
// lease in ms. Free permits are announced on the channel redisson_sc:{name}.
//
// A permit whose lease has ended is free for the next acquisition, and waiters know
// when that is. So after a crash the permits of the process are free when their
// leases end. Leases are measured on the server's clock. Redisson uses its own
// clock, so the clocks of Java clients should agree with the server's.
//
// Waiters are served in no particular order. Many goroutines may use a
// PermitSemaphore.
type PermitSemaphore struct {
	counter
	keys []string // counter, leases, channel
}

// PermitHold is a hold of permits. Unlike the hold of a lock, its permits may be
// released by their ids in another process.
type PermitHold struct {
	*Hold
	ids []string
}

// IDs returns the ids of the permits, 32 hexadecimal digits each, as in Redisson.
func (h *PermitHold) IDs() []string { return append([]string(nil), h.ids...) }

// PermitSemaphore returns the semaphore of the given name. It has no permits until
// TrySetPermits, SetPermits or Add is called.
func (c *Client) PermitSemaphore(name string) *PermitSemaphore {
	channel := lockkeys.SemaphoreChannel(name)
	return &PermitSemaphore{
		counter: counter{c, name, channel},
		keys:    []string{name, lockkeys.PermitTimeouts(name), channel},
	}
}

// noLease is the score of a permit without an end of its lease. Redisson uses the
// same value.
const noLease int64 = 922337203685477

// Name returns the semaphore's name.
func (s *PermitSemaphore) Name() string { return s.name }

// TrySetPermits gives the semaphore n permits if it does not exist yet, and reports
// whether it did.
func (s *PermitSemaphore) TrySetPermits(ctx context.Context, n int) (bool, error) {
	return s.create(ctx, "set permits of", n, n)
}

// SetPermits sets the number of permits, acquired and free together, to n. If more
// are acquired, the number of free permits is negative until enough are released.
func (s *PermitSemaphore) SetPermits(ctx context.Context, n int) error {
	if err := checkCount("set permits of", s.name, n, 0); err != nil {
		return err
	}
	latch := s.c.newLatch(s.name)
	_, err := s.c.change(ctx, sender.NewCall(scripts.PermitSet, append(s.keys[:3:3], latch),
		s.c.sender.PublishCommand(), countLife.Milliseconds(), n), latch)
	return err
}

// Add changes the number of permits by n, which may be negative.
func (s *PermitSemaphore) Add(ctx context.Context, n int) error {
	if err := checkCount("add permits to", s.name, n, -maxCount); err != nil {
		return err
	}
	_, err := s.change(ctx, scripts.PermitAdd, n)
	return err
}

// maxPermits is how many permits one call can acquire, less than 1<<permitBits. Each is an
// argument of the script and a member of the sorted set.
const maxPermits = 100_000

// Acquire waits until n permits are free and acquires them, all or none, at most
// 100,000. The watchdog renews their lease until the release; see Lease and NoLease.
// n must be positive.
func (s *PermitSemaphore) Acquire(
	ctx context.Context, n int, options ...Option,
) (*PermitHold, error) {
	requireContext(ctx)
	set, err := settingsOf("acquire permits of", s.name, options)
	switch {
	case err != nil:
		return nil, err
	case n < 1 || n > maxPermits:
		return nil, fmt.Errorf("rlock: acquire permits of %q: %d is not in 1 to %d",
			s.name, n, maxPermits)
	}
	if err := s.c.enter(); err != nil {
		return nil, err
	}
	defer s.c.leave()
	start := time.Now()
	return retryLate(func() (*PermitHold, error) { return s.acquire(ctx, n, set, start) })
}

// acquire makes a claim and acquires it.
func (s *PermitSemaphore) acquire(
	ctx context.Context, n int, set settings, start time.Time,
) (*PermitHold, error) {
	claim := s.c.newRequestID()
	k := &permitClaim{s: s, ids: make([]any, n), latch: latchKey(s.name, claim)}
	ids := make([]string, n)
	for i := range ids {
		r := claim.permit(i + 1)
		ids[i], k.ids[i] = hex.EncodeToString(r[:]), r[:]
	}
	a := s.c.newAcquisition(ctx, k, set, start)
	if err := a.run(); err != nil {
		return nil, err
	}
	h, err := s.c.hold(a)
	if err != nil {
		return nil, err
	}
	return &PermitHold{h, ids}, nil
}

// Do is Lock.Do with n permits.
func (s *PermitSemaphore) Do(
	ctx context.Context, n int, f func(context.Context) error, options ...Option,
) error {
	require("f", f != nil)
	h, err := s.Acquire(ctx, n, options...)
	if err != nil {
		return err
	}
	return h.do(ctx, f)
}

// permitClaim is the claim to permits. The ids have the claim's id in them, so that a
// release by ids can refuse late copies of the acquisition too.
type permitClaim struct {
	s     *PermitSemaphore
	ids   []any // 16 bytes each
	latch string
}

func (k *permitClaim) event() Event            { return Event{Kind: "permit", Name: k.s.name} }
func (k *permitClaim) latchKey() string        { return k.latch }
func (k *permitClaim) queues() bool            { return false }
func (k *permitClaim) channel() (string, bool) { return k.s.channel, false }

func (k *permitClaim) acquire(lease time.Duration, _ bool, _ copyKind) sender.Call {
	return sender.NewCall(scripts.PermitAcquire, append(k.s.keys[:3:3], k.latch),
		append([]any{k.s.c.sender.PublishCommand(), noLease, lease.Milliseconds()}, k.ids...)...)
}

func (k *permitClaim) granted(reply any) (grant, error) { return grantedPermits(reply) }

// release releases the permits that are held, and replies their number.
func (k *permitClaim) release() sender.Call {
	return sender.NewCall(scripts.PermitUndo, append(k.s.keys[:3:3], k.latch),
		append([]any{k.s.c.sender.PublishCommand(), latchLife.Milliseconds()}, k.ids...)...)
}

func (k *permitClaim) renew(ch leaseChange) sender.Call {
	ch.lease = max(ch.lease, time.Millisecond) // 0 has another meaning for permits
	return k.s.update(k.latch, ch, k.ids...)
}

// update returns a call that changes the leases of permits. latch is the one of their
// claim.
func (s *PermitSemaphore) update(latch string, ch leaseChange, ids ...any) sender.Call {
	args := []any{s.c.sender.PublishCommand(), noLease, ch.lease.Milliseconds(),
		ch.shorten, ch.placeArg(), latchLife.Milliseconds()}
	return sender.NewCall(scripts.PermitUpdate, append(s.keys[:3:3], latch), append(args, ids...)...)
}

// has reports whether the claim has the permit of an id.
func (k *permitClaim) has(id []byte) bool {
	return slices.ContainsFunc(k.ids, func(other any) bool {
		return bytes.Equal(other.([]byte), id)
	})
}

func (k *permitClaim) wasHeld(reply int64) bool { return reply == int64(len(k.ids)) }

// grantedPermits reads {granted, free} and, from permit_acquire, the number of ms
// until the first lease ends.
func grantedPermits(reply any) (grant, error) {
	r, err := sender.ReadInts(reply, 1)
	switch {
	case err != nil:
		return grant{}, err
	case r[0] == scripts.Over:
		return grant{}, errClaimOver
	case len(r) < 2:
		return grant{}, sender.UnexpectedReply(reply)
	}
	g := grant{ok: r[0] == 1, more: r[1] > 0, ttl: -1}
	if len(r) > 2 && r[2] >= 0 {
		g.ttl = fromMS(r[2])
	}
	return g, nil
}

// Release releases permits by their ids, all or none: in the process that acquired
// them, or in another one. ErrNotHeld means that one of them was not held any more:
// it was released before, or its lease ended. When ctx ends, or has ended already,
// or the server does not answer, Release returns the error and continues in the
// background.
func (s *PermitSemaphore) Release(ctx context.Context, ids ...string) error {
	if len(ids) == 0 {
		return nil
	}
	latch := s.c.newLatch(s.name)
	args := []any{s.c.sender.PublishCommand(), latchLife.Milliseconds()}
	keys := append(s.keys[:3:3], latch)
	var claim requestID
	for i, id := range ids {
		r, err := decodePermitID(id)
		if err != nil {
			return err
		}
		args = append(args, r[:])
		if i == 0 || claim != r.claim() { // a claim may be among the keys twice
			claim = r.claim()
			keys = append(keys, latchKey(s.name, claim))
		}
	}
	release := sender.NewCall(scripts.PermitRelease, keys, args...)
	return s.c.giveBack(ctx, &permitClaim{s: s}, release, latch, ErrNotHeld)
}

// decodePermitID returns the 16 bytes that name the permit in Redis.
func decodePermitID(id string) (r requestID, err error) {
	raw, err := hex.DecodeString(id)
	if err != nil || len(raw) != len(r) {
		return r, fmt.Errorf("%w: permit id %q is not 32 hexadecimal digits", ErrNotHeld, id)
	}
	return requestID(raw), nil
}

// SetLease changes the lease of a permit by its id: Lease ends it at that time from
// now, NoLease gives it no end. ErrNotHeld has the same meaning as in Release. The
// holder of the permit does not learn of the change.
func (s *PermitSemaphore) SetLease(ctx context.Context, id string, lease Option) error {
	set, err := settingsOf("set lease of a permit of", s.name, []Option{lease})
	if err != nil {
		return err
	}
	if set.watched() {
		return errors.New("rlock: set lease of a permit: want the option Lease or NoLease")
	}
	r, err := decodePermitID(id)
	if err != nil {
		return err
	}
	ch := leaseChange{set.lease, true, s.c.place(s.c.changes.Add(1))}
	done, err := sender.ReadInt(s.c.ask(ctx, s.update(latchKey(s.name, r), ch, r[:])))
	if err == nil && done == 0 {
		err = ErrNotHeld
	}
	return err
}

// LeaseTime returns the rest of a permit's lease, in milliseconds, at most 100 years. It is
// negative when the lease has no end. ErrNotHeld has the same meaning as in Release.
func (s *PermitSemaphore) LeaseTime(ctx context.Context, id string) (time.Duration, error) {
	r, err := decodePermitID(id)
	if err != nil {
		return 0, err
	}
	ms, err := sender.ReadInt(s.c.ask(ctx,
		sender.NewCall(scripts.PermitLeaseTime, s.keys, s.c.sender.PublishCommand(), noLease, r[:])))
	if err == nil && ms == 0 {
		err = ErrNotHeld
	}
	return fromMS(ms), err
}

// Available returns the number of free permits. It may be negative, see SetPermits
// and Add.
func (s *PermitSemaphore) Available(ctx context.Context) (int, error) {
	return s.count(ctx, 0)
}

// Acquired returns the number of acquired permits.
func (s *PermitSemaphore) Acquired(ctx context.Context) (int, error) {
	return s.count(ctx, 1)
}

// Permits returns the number of permits, acquired and free together.
func (s *PermitSemaphore) Permits(ctx context.Context) (int, error) {
	return s.count(ctx, 2)
}

// count returns the number at index i of the reply of permit_count.
func (s *PermitSemaphore) count(ctx context.Context, i int) (int, error) {
	reply, err := s.c.ask(ctx, sender.NewCall(scripts.PermitCount, s.keys, s.c.sender.PublishCommand()))
	if err != nil {
		return 0, err
	}
	n, err := sender.ReadInts(reply, 3)
	if err != nil {
		return 0, err
	}
	return int(n[i]), nil
}
