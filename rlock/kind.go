package rlock

import (
	"time"

	"github.com/lockredis/lockredis/internal/lockkeys"
	"github.com/lockredis/lockredis/rlock/internal/scripts"
	"github.com/lockredis/lockredis/rlock/internal/sender"
)

// mode says which other holds of the same name a hold excludes.
type mode int

const (
	exclusive mode = iota // every other hold
	reading               // holds for writing
	writing               // every other hold; its owner may also read
	modes                 // number of modes
)

func (m mode) String() string { return [...]string{"exclusive", "read", "write"}[m] }

// kind is what differs between the locks of this package: the scripts and their
// arguments.
type kind interface {
	label() string // Event.Kind
	mode() mode
	queues() bool // waiters have positions in a queue

	// acquire, granted, release and renew are the methods of lockClaim.
	acquire(k *lockClaim, lease time.Duration, waits bool, c copyKind) sender.Call
	granted(reply any) (grant, error)
	release(k *lockClaim) sender.Call
	renew(k *lockClaim, ch leaseChange) sender.Call

	// force deletes the lock, whichever owner holds it, and replies 1 if it
	// existed.
	force(l *Lock, latch string) sender.Call
	// locked replies 1 when any owner holds the lock.
	locked(l *Lock) sender.Call
	// field is the field of the lock's hash that has an owner's hold count.
	field(owner string) string
	// channel is the channel on which a release is published for the owner.
	channel(name, owner string) (channel string, shared bool)
}

// lockClaim is the claim of one owner to one lock.
type lockClaim struct {
	c     *Client
	kind  kind
	name  string
	owner string
	known bool // the owner is not new: its requests take turns
	latch string

	// name, owner and latch as arguments of calls. An any of a string is an allocation, and
	// each of them is sent twice.
	nameArg, ownerArg, latchArg any
}

// newLockClaim returns a claim to the lock without an owner.
func (l *Lock) newLockClaim(latch string) *lockClaim {
	return &lockClaim{
		c: l.c, kind: l.kind, name: l.name, latch: latch, nameArg: l.name, latchArg: latch,
	}
}

func (k *lockClaim) setOwner(owner string) { k.owner, k.ownerArg = owner, owner }

// act makes k a claim of another claim's owner.
func (k *lockClaim) act(of *lockClaim) {
	k.setOwner(of.owner)
	k.known = true
}

func (k *lockClaim) event() Event {
	return Event{Kind: k.kind.label(), Name: k.name, Owner: k.owner}
}

func (k *lockClaim) acquire(lease time.Duration, waits bool, c copyKind) sender.Call {
	return k.kind.acquire(k, lease, waits, c)
}

func (k *lockClaim) granted(reply any) (grant, error) { return k.kind.granted(reply) }

func (k *lockClaim) release() sender.Call { return k.kind.release(k) }

func (k *lockClaim) renew(ch leaseChange) sender.Call { return k.kind.renew(k, ch) }

func (k *lockClaim) wasHeld(reply int64) bool { return reply == 1 }

func (k *lockClaim) latchKey() string        { return k.latch }
func (k *lockClaim) queues() bool            { return k.kind.queues() }
func (k *lockClaim) channel() (string, bool) { return k.kind.channel(k.name, k.owner) }

// Lock returns the reentrant lock of the given name: Redisson's RLock
// (RedissonLock). It sends nothing; Lock.Do and Lock.Acquire acquire the lock.
func (c *Client) Lock(name string) *Lock { return &Lock{c: c, name: name, kind: plain{}} }

// plain is the reentrant lock: a hash with the owner and its hold count, whose time
// to live is the lease.
type plain struct{}

func (plain) label() string { return "lock" }
func (plain) mode() mode    { return exclusive }
func (plain) queues() bool  { return false }

func (plain) acquire(k *lockClaim, lease time.Duration, _ bool, c copyKind) sender.Call {
	return sender.CallOf(scripts.PlainAcquire, 2, k.nameArg, k.latchArg,
		lease.Milliseconds(), k.ownerArg, c.arg()).LatchOptional()
}

// granted reads the reply of an acquire script: a string for granted, or a number.
// The scripts send an empty string, because go-redis makes an error of nil, which
// costs 20 allocations.
func (plain) granted(reply any) (grant, error) {
	switch v := reply.(type) {
	case string:
		return grant{ok: true}, nil
	case int64:
		return refused(v)
	}
	return grant{}, sender.UnexpectedReply(reply)
}

// refused returns the grant for a number that an acquire script replied: the rest
// of the holder's lease in ms, or scripts.Over.
func refused(ms int64) (grant, error) {
	if ms == scripts.Over {
		return grant{}, errClaimOver
	}
	return grant{ttl: fromMS(ms)}, nil
}

func (plain) release(k *lockClaim) sender.Call {
	if k.c.sender.Sharded() {
		return k.plainRelease(k.c.sender.PublishCommand())
	}
	return sender.CallOf(scripts.PlainRelease, 3, k.nameArg, lockkeys.Channel(k.name), k.latchArg,
		k.ownerArg)
}

// plainRelease returns the call that publishes the release by the given command, if any.
func (k *lockClaim) plainRelease(command any) sender.Call {
	return sender.NewCall(scripts.PlainRelease, []string{k.name, lockkeys.Channel(k.name), k.latch},
		k.owner, command, latchLife.Milliseconds())
}

func (plain) renew(k *lockClaim, ch leaseChange) sender.Call {
	return renewOneKey(scripts.PlainRenew, k, ch)
}

// renewOneKey returns the call of a renew script whose lease is in one key. An ordinary
// renewal then has one key too, so it runs while the key's slot of a cluster moves.
func renewOneKey(s *scripts.Script, k *lockClaim, ch leaseChange) sender.Call {
	keys := []string{k.name}
	if ch.place != "" {
		keys = append(keys, k.latch)
	}
	return sender.NewCall(s, keys, k.renewArgs(ch)...).LatchOptional()
}

// renewArgs are the arguments of every renew script.
func (k *lockClaim) renewArgs(ch leaseChange) []any {
	return []any{ch.lease.Milliseconds(), k.owner, ch.shorten, ch.placeArg(),
		latchLife.Milliseconds()}
}

func (plain) force(l *Lock, latch string) sender.Call {
	return sender.NewCall(scripts.PlainForce, []string{l.name, lockkeys.Channel(l.name), latch},
		l.c.sender.PublishCommand(), latchLife.Milliseconds())
}

func (plain) locked(l *Lock) sender.Call { return readKey(l.name, "exists") }
func (plain) field(owner string) string  { return owner }

func (plain) channel(name, _ string) (string, bool) { return lockkeys.Channel(name), false }

// SpinLock returns a reentrant lock whose release is not published. Waiters poll:
// after 1 ms at first, then at growing intervals up to 128 ms, each shortened at
// random. It is Redisson's RedissonSpinLock (RedissonClient.getSpinLock). Use it for
// very many locks with short holds, where the subscriptions and messages of
// Client.Lock cost more than polling.
//
// It has the same guarantees as Lock, and a crash costs the same: the rest of the
// lease. A SpinLock and a Lock of the same name use the same hash and exclude each
// other. But a SpinLock's release does not wake the waiters of the Lock.
func (c *Client) SpinLock(name string) *Lock { return &Lock{c: c, name: name, kind: spin{}} }

// spin is plain without messages.
type spin struct{ plain }

func (spin) label() string                         { return "spin" }
func (spin) channel(string, string) (string, bool) { return "", false }

func (spin) release(k *lockClaim) sender.Call { return k.plainRelease("") }

func (spin) force(l *Lock, latch string) sender.Call {
	return sender.NewCall(scripts.PlainForce, []string{l.name, lockkeys.Channel(l.name), latch},
		"", latchLife.Milliseconds())
}

// readKey returns a call that runs one command on one key. It is a script so that
// go-redis sends it to the master and not to a replica.
func readKey(key, command string, args ...any) sender.Call {
	return sender.NewCall(scripts.ReadKey, []string{key}, append([]any{command}, args...)...)
}
