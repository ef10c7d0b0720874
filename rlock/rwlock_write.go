package rlock

import "time"

// writing is the write half of an RWLock.
type writing struct{ plain }

var writeAcquire = newScript(`
local lease, held = tonumber(ARGV[1]), tonumber(ARGV[3])
local count = redis.call('hget', KEYS[1], ARGV[2])
if not count then
  if held > 0 then return -3 end
  if redis.call('hexists', KEYS[1], 'mode') == 1 then return redis.call('pttl', KEYS[1]) end
  redis.call('hset', KEYS[1], 'mode', 'write', ARGV[2], 1)
elseif tonumber(count) ~= held + 1 then
  redis.call('hincrby', KEYS[1], ARGV[2], 1)
  lease = lease + redis.call('pttl', KEYS[1])
end
if redis.call('pttl', KEYS[1]) < lease then redis.call('pexpire', KEYS[1], lease) end
return ''`)

// writeDrop ends the owner's last write hold. If the owner also holds the read lock,
// the lock is then held for reading. Unlike Redisson, it publishes in that case too,
// so that waiting readers wake.
const writeDrop = `
local function drop(field, publish)
  redis.call('hdel', KEYS[1], field)
  if redis.call('hlen', KEYS[1]) > 1 then
    redis.call('hset', KEYS[1], 'mode', 'read')
  else
    redis.call('del', KEYS[1])
  end
  redis.call(publish, KEYS[2], '1')
end
`

var writeUndo = newScript(onlyOnce + writeDrop + `
local count = tonumber(redis.call('hget', KEYS[1], ARGV[1]) or 0)
if count ~= tonumber(ARGV[3]) + 1 then return 0 end
if count > 1 then
  redis.call('hincrby', KEYS[1], ARGV[1], -1)
else
  drop(ARGV[1], ARGV[2])
end
return 1`)

// writeExtend starts the lease again. As in Redisson, that shortens a lease that
// locking again has made longer. But if the writer also holds the read lock, it does
// not shorten the lease.
const writeExtend = `
local function extend(lease)
  if redis.call('hlen', KEYS[1]) == 2 or redis.call('pttl', KEYS[1]) < tonumber(lease) then
    redis.call('pexpire', KEYS[1], lease)
  end
end
`

var writeRelease = newScript(writeDrop + writeExtend + `
local answer = redis.call('get', KEYS[3])
if answer then return tonumber(answer) end
if redis.call('hexists', KEYS[1], ARGV[1]) == 0 then
  if redis.call('exists', KEYS[1]) == 0 then redis.call(ARGV[2], KEYS[2], '1') end
  return nil
end
local done = 1
if redis.call('hincrby', KEYS[1], ARGV[1], -1) > 0 then
  extend(ARGV[4])
  done = 0
else
  drop(ARGV[1], ARGV[2])
end
redis.call('set', KEYS[3], done, 'px', ARGV[3])
return done`)

var writeRenew = newScript(writeExtend + `
if redis.call('hexists', KEYS[1], ARGV[2]) == 0 then return 0 end
if ARGV[3] then
  extend(ARGV[1])
elseif redis.call('pttl', KEYS[1]) < tonumber(ARGV[1]) then
  redis.call('pexpire', KEYS[1], ARGV[1])
end
return 1`)

var writeLocked = newScript(`
if redis.call('hget', KEYS[1], 'mode') == 'write' then return 1 end
return 0`)

func (writing) label() string                  { return "write" }
func (writing) channel(l *Lock) (string, bool) { return rwChannel(l), true }
func (writing) field(l *Lock) string           { return l.owner + ":write" }

func (k writing) acquire(l *Lock, lease time.Duration, held int, _ bool) call {
	return writeAcquire.call([]string{l.name}, lease.Milliseconds(), k.field(l), held)
}

func (k writing) undo(l *Lock, held int, latch string, lease time.Duration) call {
	return writeUndo.call([]string{l.name, rwChannel(l), latch},
		k.field(l), l.c.topo.publish, held, latchTime(lease))
}

func (k writing) release(l *Lock, latch string, lease time.Duration) call {
	return writeRelease.call([]string{l.name, rwChannel(l), latch},
		k.field(l), l.c.topo.publish, latchTime(lease), lease.Milliseconds())
}

func (writing) force(l *Lock, latch string) call {
	return forceMode(l, latch, "write", 1)
}

func (k writing) renew(l *Lock, lease time.Duration) call {
	return writeRenew.call([]string{l.name}, lease.Milliseconds(), k.field(l))
}

func (writing) locked(l *Lock) (call, bool) { return writeLocked.call([]string{l.name}), true }
