package rlock

import "time"

// SpinLock returns a reentrant lock with a new owner, whose release is not
// published. Waiters poll: after 1 ms at first, then at growing intervals up to
// 128 ms, each shortened at random. It is Redisson's RedissonSpinLock
// (RedissonClient.getSpinLock). Use it for very many locks with short holds, where
// the subscriptions and messages of Client.Lock cost more than polling.
//
// It has the same guarantees as Lock, and a crash costs the same: the rest of the
// lease. A SpinLock and a Lock of the same name use the same hash and exclude each
// other. But a SpinLock's release does not wake the waiters of the Lock.
func (c *Client) SpinLock(name string, options ...LockOption) *Lock {
	return c.newLock(name, spin{}, options)
}

// spin is plain without messages.
type spin struct{ plain }

var spinUndo = newScript(onlyOnce + `
local count = tonumber(redis.call('hget', KEYS[1], ARGV[1]) or 0)
if count ~= tonumber(ARGV[2]) + 1 then return 0 end
if count > 1 then
  redis.call('hincrby', KEYS[1], ARGV[1], -1)
else
  redis.call('del', KEYS[1])
end
return 1`)

var spinRelease = newScript(`
local call, lock, me, latch = redis.call, KEYS[1], ARGV[1], KEYS[2]
local count = call('hget', lock, me)
if count == '1' and call('set', latch, '1', 'px', ARGV[3], 'nx') then
  call('del', lock)
  return 1
end
local answer = call('get', latch)
if answer then return tonumber(answer) end
if not count then return nil end
call('hincrby', lock, me, '-1')
call('pexpire', lock, ARGV[2])
call('set', latch, '0', 'px', ARGV[3])
return 0`)

var spinForce = newScript(`
if redis.call('exists', KEYS[2]) == 1 then return 1 end
if redis.call('del', KEYS[1]) == 0 then return 0 end
redis.call('set', KEYS[2], 1, 'px', ARGV[1])
return 1`)

func (spin) label() string                { return "spin" }
func (spin) channel(*Lock) (string, bool) { return "", false }

func (spin) undo(l *Lock, held int, latch string, lease time.Duration) call {
	return spinUndo.call([]string{l.name, latch}, l.owner, held, latchTime(lease))
}

func (spin) release(l *Lock, latch string, lease time.Duration) call {
	return spinRelease.call([]string{l.name, latch}, l.owner, lease.Milliseconds(), latchTime(lease))
}

func (spin) force(l *Lock, latch string) call {
	return spinForce.call([]string{l.name, latch}, latchTime(l.c.opts.Lease))
}
