package rlock

import (
	"time"

	"github.com/lockredis/lockredis/internal/lockkeys"
)

// Lock returns a reentrant lock with a new owner: Redisson's RLock (RedissonLock).
func (c *Client) Lock(name string, options ...LockOption) *Lock {
	return c.newLock(name, plain{}, options)
}

// plain is the reentrant lock: a hash with the owner and its hold count, whose time
// to live is the lease.
type plain struct{}

// Replies of acquire scripts: a string or nil means granted. The scripts send an
// empty string, because go-redis makes an error of nil, which costs 20 allocations.
// replyNotHeld means that the owner's earlier hold is gone. Any other number is the
// time to live of the holder's lease in milliseconds.
const replyNotHeld = -3

// The cost of a script is mostly its commands and its lookups of redis.call. So an
// uncontended acquire runs only three commands, and a release four.
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

// plainRelease sets the latch with NX when it releases the last hold: that checks
// and sets it in one command. In the other cases it reads the latch first.
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

// plainRenew does not shorten a lease: a late renewal of an earlier hold may arrive
// when the owner has a new, longer one. With ARGV[3] it sets the lease in any case.
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
		return grant{notHeld: ms == replyNotHeld, ttl: time.Duration(ms) * time.Millisecond}, nil
	}
	return grant{}, unexpectedReply(reply)
}

func (k plain) undo(l *Lock, held int, latch string, lease time.Duration) call {
	channel, _ := k.channel(l)
	return plainUndo.call([]string{l.name, channel, latch},
		l.owner, held, l.c.topo.publish, latchTime(lease))
}

func (k plain) release(l *Lock, latch string, lease time.Duration) call {
	channel, _ := k.channel(l)
	return plainRelease.call([]string{l.name, channel, latch},
		l.owner, lease.Milliseconds(), l.c.topo.publish, latchTime(lease))
}

func (k plain) force(l *Lock, latch string) call {
	channel, _ := k.channel(l)
	return plainForce.call([]string{l.name, channel, latch},
		l.c.topo.publish, latchTime(l.c.opts.Lease))
}

func (plain) renew(l *Lock, lease time.Duration) call {
	return plainRenew.call([]string{l.name}, lease.Milliseconds(), l.owner)
}

func (plain) field(l *Lock) string      { return l.owner }
func (plain) locked(*Lock) (call, bool) { return call{}, false }
func (plain) leave(*Lock) (call, bool)  { return call{}, false }
