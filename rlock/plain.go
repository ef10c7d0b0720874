package rlock

import (
	"time"

	"github.com/lockredis/lockredis/internal/lockkeys"
)

// Lock returns a reentrant lock, Redisson's RLock (RedissonLock), with an owner
// of its own.
func (c *Client) Lock(name string, options ...LockOption) *Lock {
	return c.newLock(name, plain{}, options)
}

// plain is the reentrant lock: a hash of owners and hold counts, with the lease
// as its time to live.
type plain struct{}

// The replies of acquire scripts: nil or a text is granted (nil is an error to
// go-redis, which costs 20 allocations), a number the holder's time in
// milliseconds, and notHeld that the owner lost what it believes to hold.
const notHeld = -3

// Of what a script costs, its commands and the looking up of redis.call are the
// most: acquire runs three of them and release four when nobody contends.
var plainAcquire = newScript(`
local call, lock, me, held = redis.call, KEYS[1], ARGV[2], tonumber(ARGV[3])
local ttl = call('pttl', lock)
if ttl == -2 then
  if held > 0 then return -3 end
  call('hset', lock, me, '1')
else
  local count = call('hget', lock, me)
  if not count then return held > 0 and -3 or ttl end
  if tonumber(count) ~= held + 1 then call('hincrby', lock, me, '1') end
end
call('pexpire', lock, ARGV[1])
return ''`)

var plainUndo = newScript(onlyOnce + `
local count = tonumber(redis.call('hget', KEYS[1], ARGV[1]) or 0)
if count ~= tonumber(ARGV[2]) + 1 then return 0 end
if count > 1 then
  redis.call('hincrby', KEYS[1], ARGV[1], -1)
else
  redis.call('del', KEYS[1])
  redis.call(ARGV[3], KEYS[2], '0')
end
return 1`)

// The latch of a release that was the last is asked for and set at once; where the
// hold is gone, or one of several, it is asked for first.
var plainRelease = newScript(`
local call, lock, me, latch = redis.call, KEYS[1], ARGV[1], KEYS[3]
local count = call('hget', lock, me)
if count == '1' and call('set', latch, '1', 'px', ARGV[4], 'nx') then
  call('del', lock)
  call(ARGV[3], KEYS[2], '0')
  return 1
end
local answer = call('get', latch)
if answer then return tonumber(answer) end
if not count then return nil end
call('hincrby', lock, me, '-1')
call('pexpire', lock, ARGV[2])
call('set', latch, '0', 'px', ARGV[4])
return 0`)

var plainForce = newScript(`
if redis.call('exists', KEYS[3]) == 1 then return 1 end
if redis.call('del', KEYS[1]) == 0 then return 0 end
redis.call(ARGV[1], KEYS[2], '0')
redis.call('set', KEYS[3], 1, 'px', ARGV[2])
return 1`)

// A renewal that comes late, when its hold is over and the owner has a longer one,
// must not shorten that; ARGV[3] has the lease begin anew all the same.
var plainRenew = newScript(`
if redis.call('hexists', KEYS[1], ARGV[2]) == 0 then return 0 end
if ARGV[3] or redis.call('pttl', KEYS[1]) < tonumber(ARGV[1]) then redis.call('pexpire', KEYS[1], ARGV[1]) end
return 1`)

func (plain) label() string { return "lock" }

func (plain) channel(l *Lock) (string, bool) {
	return lockkeys.Channel(l.name), false
}

func (plain) acquire(l *Lock, lease time.Duration, held int, _ bool) call {
	return plainAcquire.call([]string{l.name}, lease.Milliseconds(), l.owner, held)
}

func (plain) acquired(reply any) (grant, error) {
	switch ms := reply.(type) {
	case nil, string:
		return grant{ok: true}, nil
	case int64:
		return grant{gone: ms == notHeld, ttl: time.Duration(ms) * time.Millisecond}, nil
	}
	return grant{}, strange(reply)
}

func (k plain) undo(l *Lock, held int, latch string, lease time.Duration) call {
	channel, _ := k.channel(l)
	return plainUndo.call([]string{l.name, channel, latch}, l.owner, held, l.c.topo.publish, latchTime(lease))
}

func (k plain) release(l *Lock, latch string, lease time.Duration) call {
	channel, _ := k.channel(l)
	return plainRelease.call([]string{l.name, channel, latch}, l.owner, lease.Milliseconds(), l.c.topo.publish, latchTime(lease))
}

func (k plain) force(l *Lock, latch string) call {
	channel, _ := k.channel(l)
	return plainForce.call([]string{l.name, channel, latch}, l.c.topo.publish, latchTime(l.c.opts.Lease))
}

func (plain) renew(l *Lock, lease time.Duration) call {
	return plainRenew.call([]string{l.name}, lease.Milliseconds(), l.owner)
}

func (plain) field(l *Lock) string      { return l.owner }
func (plain) locked(*Lock) (call, bool) { return call{}, false }
func (plain) leave(*Lock) (call, bool)  { return call{}, false }
