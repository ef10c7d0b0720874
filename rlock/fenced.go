package rlock

import (
	"time"

	"github.com/lockredis/lockredis/internal/lockkeys"
)

// FencedLock returns a reentrant lock with a new owner, whose holds are numbered:
// Redisson's RFencedLock (RedissonFencedLock). Lock.Token returns the number.
//
// A lease cannot stop a holder that was paused for longer than its lease and
// continues as if it held the lock. A token can: the holder passes it to the
// resource with every write, and the resource refuses tokens lower than the highest
// that it has seen.
//
// A crash costs the rest of the lease. The counter, redisson_lock_token:{name}, has
// no time to live. If it is deleted, tokens start from 1 again.
func (c *Client) FencedLock(name string, options ...LockOption) *Lock {
	return c.newLock(name, fenced{}, options)
}

// Token returns the number of the present hold of a FencedLock. It is 0 when the
// owner does not hold the lock, and for other kinds. Each hold has a higher token
// than all holds before it. Locking again while holding the lock raises the token,
// as in Redisson. A lost hold keeps its token until it is unlocked.
func (l *Lock) Token() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.hold == nil {
		return 0
	}
	return l.hold.token
}

// fenced is plain with a counter.
type fenced struct{ plain }

// fencedAcquire replies {ms, token}: ms is -1 when the lock was acquired. A second
// run replies the token of the first run, because no other owner can have raised the
// counter while this owner holds the lock.
var fencedAcquire = newScript(`
local call, lock, me, held = redis.call, KEYS[1], ARGV[2], tonumber(ARGV[3])
local ttl, count = call('pttl', lock), false
if ttl ~= -2 then count = call('hget', lock, me) end
if not count and held > 0 then return {-3, -1} end
if not count and ttl ~= -2 then return {ttl, -1} end
local token
if tonumber(count or 0) == held + 1 then
  token = call('get', KEYS[2])
else
  call('hincrby', lock, me, '1')
end
call('pexpire', lock, ARGV[1])
return {-1, tonumber(token or call('incr', KEYS[2]))}`)

func (fenced) label() string { return "fenced" }

func (fenced) acquire(l *Lock, lease time.Duration, held int, _ bool) call {
	return fencedAcquire.call([]string{l.name, lockkeys.FencingToken(l.name)},
		lease.Milliseconds(), l.owner, held)
}

func (fenced) acquired(reply any) (grant, error) {
	pair, _ := reply.([]any)
	if len(pair) == 2 {
		ms, _ := pair[0].(int64)
		token, _ := pair[1].(int64)
		ttl := time.Duration(ms) * time.Millisecond
		return grant{ok: token > 0, notHeld: ms == replyNotHeld, ttl: ttl, token: token}, nil
	}
	return grant{}, unexpectedReply(reply)
}
