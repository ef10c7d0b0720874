package rlock

import (
	"time"

	"github.com/lockredis/lockredis/internal/lockkeys"
)

// FairLock returns a reentrant lock with a new owner. Its waiters acquire it in
// arrival order. It is Redisson's RLock of RedissonClient.getFairLock
// (RedissonFairLock).
//
// A crash of the holder costs the rest of the lease, as with Lock. A crash of a
// waiter costs the others up to Options.FairWait (Redisson's fairLockWaitTimeout)
// when it is first in the queue; then it is removed from the queue. A live waiter is
// removed too when the holder renews the lock for that long. It then queues again
// at the end.
//
// The clients decide this with their own clocks, in milliseconds. The clocks should
// differ by much less than FairWait.
//
// TryLock without a wait time does not queue. It acquires the lock only when no
// other owner is in the queue.
func (c *Client) FairLock(name string, options ...LockOption) *Lock {
	return c.newLock(name, fair{}, options)
}

// fair is plain with a queue: a list of owners in arrival order, and a sorted set
// with the deadline of each owner, after which it is removed. Only the first owner in
// the queue may acquire the lock. Each owner has its own channel, on which it is
// woken when the lock is free.
type fair struct{ plain }

// fairQueue is the beginning of all scripts of this kind. head removes the owners
// whose deadline has passed, and returns the first remaining owner, or false, and
// its deadline. Unlike Redisson, it publishes to a removed owner: if that is alive,
// it queues again. Without the message it would wait, because wake-ups now go to
// others.
const fairQueue = `
local lock, queue, timeouts, channel = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local me, now, publish = ARGV[1], tonumber(ARGV[2]), ARGV[3]

local function head()
  while true do
    local first = redis.call('lindex', queue, 0)
    local deadline = first and redis.call('zscore', timeouts, first)
    if not deadline or tonumber(deadline) > now then return first, deadline end
    redis.call('lpop', queue)
    redis.call('zrem', timeouts, first)
    if first ~= me then redis.call(publish, channel .. ':' .. first, '0') end
  end
end

local function wake()
  local first = head()
  if first then redis.call(publish, channel .. ':' .. first, '0') end
end
`

// fairAcquire replies to a waiter the number of ms until its next try. If the lock is
// held, that is the rest of the lease. If the lock is free, it is the time until the
// first waiter's deadline, at most ARGV[8]: the first waiter may acquire the lock and
// die.
var fairAcquire = newScript(fairQueue + `
local lease, held, patience = ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6])
local count = redis.call('hget', lock, me)
if count then
  if tonumber(count) ~= held + 1 then redis.call('hincrby', lock, me, 1) end
  redis.call('pexpire', lock, lease)
  return ''
end
if held > 0 then return -3 end

local first, deadline = head()
local free = redis.call('exists', lock) == 0
if free and (not first or first == me) then
  redis.call('lpop', queue)
  redis.call('zrem', timeouts, me)
  for _, other in ipairs(redis.call('zrange', timeouts, 0, -1)) do
    redis.call('zincrby', timeouts, -patience, other)
  end
  redis.call('hset', lock, me, 1)
  redis.call('pexpire', lock, lease)
  return ''
end

if ARGV[7] == '1' and not redis.call('zscore', timeouts, me) then
  local last = redis.call('lindex', queue, -1)
  local turn = last and redis.call('zscore', timeouts, last)
  turn = turn and tonumber(turn) or now + math.max(0, redis.call('pttl', lock))
  redis.call('zadd', timeouts, turn + patience, me)
  redis.call('rpush', queue, me)
end
if not free then return redis.call('pttl', lock) end
return math.min(tonumber(ARGV[8]), tonumber(deadline or math.huge) - now)`)

var fairUndo = newScript(onlyOnce + fairQueue + `
local count = tonumber(redis.call('hget', lock, me) or 0)
if count ~= tonumber(ARGV[4]) + 1 then return 0 end
if count > 1 then
  redis.call('hincrby', lock, me, -1)
else
  redis.call('del', lock)
  wake()
end
return 1`)

var fairRelease = newScript(fairQueue + `
local answer = redis.call('get', KEYS[5])
if answer then return tonumber(answer) end
if redis.call('hexists', lock, me) == 0 then
  if redis.call('exists', lock) == 0 then wake() end
  return nil
end
local done = 1
if redis.call('hincrby', lock, me, -1) > 0 then
  redis.call('pexpire', lock, ARGV[5])
  done = 0
else
  redis.call('del', lock)
  wake()
end
redis.call('set', KEYS[5], done, 'px', ARGV[4])
return done`)

var fairForce = newScript(fairQueue + `
if redis.call('exists', KEYS[5]) == 1 then return 1 end
if redis.call('del', lock) == 0 then return 0 end
wake()
redis.call('set', KEYS[5], 1, 'px', ARGV[4])
return 1`)

// fairLeave removes the owner from the queue and lowers the deadlines of the owners
// behind it. Unlike Redisson, it wakes the first owner if the lock is free.
var fairLeave = newScript(fairQueue + `
local behind = false
for _, other in ipairs(redis.call('lrange', queue, 0, -1)) do
  if other == me then
    behind = true
  elseif behind then
    redis.call('zincrby', timeouts, -tonumber(ARGV[4]), other)
  end
end
redis.call('zrem', timeouts, me)
if redis.call('lrem', queue, 0, me) > 0 and redis.call('exists', lock) == 0 then wake() end
return 1`)

func (fair) label() string { return "fair" }

func (fair) channel(l *Lock) (string, bool) {
	return lockkeys.FairChannel(l.name, l.owner), false
}

// call returns a call with the keys and arguments that all scripts of the kind take.
func (fair) call(l *Lock, s *script, latch string, args ...any) call {
	keys := []string{l.name, lockkeys.FairQueue(l.name),
		lockkeys.FairTimeouts(l.name), lockkeys.Channel(l.name)}
	if latch != "" {
		keys = append(keys, latch)
	}
	return s.call(keys, append([]any{l.owner, time.Now().UnixMilli(), l.c.topo.publish}, args...)...)
}

func (k fair) acquire(l *Lock, lease time.Duration, held int, waits bool) call {
	return k.call(l, fairAcquire, "", lease.Milliseconds(), held,
		l.c.opts.FairWait.Milliseconds(), waits, l.c.opts.Lease.Milliseconds())
}

func (k fair) undo(l *Lock, held int, latch string, lease time.Duration) call {
	return k.call(l, fairUndo, latch, held, latchTime(lease))
}

func (k fair) release(l *Lock, latch string, lease time.Duration) call {
	return k.call(l, fairRelease, latch, latchTime(lease), lease.Milliseconds())
}

func (k fair) force(l *Lock, latch string) call {
	return k.call(l, fairForce, latch, latchTime(l.c.opts.Lease))
}

func (k fair) leave(l *Lock) (call, bool) {
	return k.call(l, fairLeave, "", l.c.opts.FairWait.Milliseconds()), true
}
