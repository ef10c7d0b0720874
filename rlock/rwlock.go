package rlock

import (
	"time"

	"github.com/lockredis/lockredis/internal/lockkeys"
)

// RWLock is a read-write lock together with one owner: many owners may hold it for
// reading, or one for writing. It is Redisson's RReadWriteLock
// (RedissonReadWriteLock). Goroutines that must exclude each other need an RWLock
// value each.
//
// The writer may also acquire the read lock. When it then unlocks the write lock, it
// continues to hold the lock for reading, and no other owner can write in between.
// The opposite does not work: a reader that locks for writing waits for itself until
// its context ends.
//
// Waiters are served in no particular order. A waiting writer does not keep new
// readers out.
//
// After a reader's crash, writers wait for the rest of its lease. After a writer's
// crash, all owners do. Readers may have different leases: the lock is held until
// the longest of them ends.
type RWLock struct{ read, write *Lock }

// RWLock returns a read-write lock with a new owner, which the read lock and the
// write lock share.
func (c *Client) RWLock(name string, options ...LockOption) *RWLock {
	read := c.newLock(name, reading{}, options)
	write := c.newLock(name, writing{}, []LockOption{func(l *Lock) {
		l.owner, l.privateOwner = read.owner, read.privateOwner
	}})
	return &RWLock{read, write}
}

// Read returns the lock for reading (RedissonReadLock), always the same one.
//
// Its IsLocked reports whether any owner holds the read lock, also the writer. Its
// ForceUnlock ends the holds of all readers, and does nothing while the lock is held
// for writing.
func (rw *RWLock) Read() *Lock { return rw.read }

// Write returns the lock for writing (RedissonWriteLock), always the same one.
//
// Locking it again adds the lease to the rest of the present one. Its ForceUnlock
// also ends the writer's read holds, and does nothing while the lock is held for
// reading.
func (rw *RWLock) Write() *Lock { return rw.write }

// The lock is a hash. The field mode is "read" or "write", the field owner has the
// owner's read hold count and the field owner:write its write hold count. Each read
// hold also has a key, {name}:owner:rwlock_timeout:n, whose time to live is the lease
// of the hold. The time to live of the hash is the longest of them.

// rwTimeout returns the key of an owner's read holds, without the number.
func rwTimeout(l *Lock) string { return lockkeys.ReadHolds(l.name, l.owner) }

// rwChannel returns the lock's channel. A reader's release publishes 0, a writer's
// release 1. In Redisson 0 wakes one waiter and 1 wakes all; here both wake all.
func rwChannel(l *Lock) string { return lockkeys.RWChannel(l.name) }

// reading is the read half of an RWLock.
type reading struct{ plain }

var readAcquire = newScript(`
local lease, held = tonumber(ARGV[1]), tonumber(ARGV[4])
local count = redis.call('hget', KEYS[1], ARGV[2])
if not count then
  if held > 0 then return -3 end
  local mode = redis.call('hget', KEYS[1], 'mode')
  if not mode then
    redis.call('hset', KEYS[1], 'mode', 'read')
  elseif mode ~= 'read' and redis.call('hexists', KEYS[1], ARGV[3]) == 0 then
    return redis.call('pttl', KEYS[1])
  end
end
if tonumber(count or 0) ~= held + 1 then
  count = redis.call('hincrby', KEYS[1], ARGV[2], 1)
end
redis.call('set', KEYS[2] .. ':' .. count, 1, 'px', lease)
if redis.call('pttl', KEYS[1]) < lease then redis.call('pexpire', KEYS[1], lease) end
return ''`)

// readDrop ends one of the owner's holds and replies 1 if it was the last. Unlike
// Redisson, it keeps the longer of the two leases for the hold below, so that an
// unlock does not shorten a lease that the owner trusts. Also unlike Redisson, it
// leaves a writer's lease as it is.
const readDrop = `
local function timeout(owner, n) return KEYS[3] .. ':' .. owner .. ':rwlock_timeout:' .. n end

local function longest()
  local ms, fields = 0, redis.call('hgetall', KEYS[1])
  for i = 1, #fields, 2 do
    for n = 1, tonumber(fields[i + 1]) or 0 do
      ms = math.max(ms, redis.call('pttl', timeout(fields[i], n)))
    end
  end
  return ms
end

local function drop(owner, publish)
  local left = redis.call('hincrby', KEYS[1], owner, -1)
  local rest = redis.call('pttl', timeout(owner, left + 1))
  redis.call('del', timeout(owner, left + 1))
  local done = 0
  if left == 0 then
    redis.call('hdel', KEYS[1], owner)
    done = 1
  elseif rest > 0 and rest > redis.call('pttl', timeout(owner, left)) then
    redis.call('set', timeout(owner, left), 1, 'px', rest)
  end
  if redis.call('hget', KEYS[1], 'mode') == 'write' then return done end
  local ms = longest()
  if ms > 0 then
    redis.call('pexpire', KEYS[1], ms)
    return done
  end
  redis.call('del', KEYS[1])
  redis.call(publish, KEYS[2], '0')
  return 1
end
`

var readUndo = newScript(onlyOnce + readDrop + `
local count = tonumber(redis.call('hget', KEYS[1], ARGV[1]) or 0)
if count ~= tonumber(ARGV[3]) + 1 then return 0 end
drop(ARGV[1], ARGV[2])
return 1`)

var readRelease = newScript(readDrop + `
local answer = redis.call('get', KEYS[4])
if answer then return tonumber(answer) end
if redis.call('hexists', KEYS[1], ARGV[1]) == 0 then
  if redis.call('exists', KEYS[1]) == 0 then redis.call(ARGV[2], KEYS[2], '0') end
  return nil
end
local done = drop(ARGV[1], ARGV[2])
redis.call('set', KEYS[4], done, 'px', ARGV[3])
return done`)

// rwForce deletes the lock only if it is held in the mode ARGV[1].
var rwForce = newScript(`
if redis.call('exists', KEYS[3]) == 1 then return 1 end
if redis.call('hget', KEYS[1], 'mode') ~= ARGV[1] then return 0 end
redis.call('del', KEYS[1])
redis.call(ARGV[3], KEYS[2], ARGV[2])
redis.call('set', KEYS[3], 1, 'px', ARGV[4])
return 1`)

func forceMode(l *Lock, latch, mode string, message int) call {
	return rwForce.call([]string{l.name, rwChannel(l), latch},
		mode, message, l.c.topo.publish, latchTime(l.c.opts.Lease))
}

// readRenew, unlike Redisson, does not shorten the lease of another reader.
var readRenew = newScript(`
local count = redis.call('hget', KEYS[1], ARGV[2])
if not count then return 0 end
for n = 1, tonumber(count) do
  local key = KEYS[2] .. ':' .. n
  if ARGV[3] or redis.call('pttl', key) < tonumber(ARGV[1]) then redis.call('set', key, 1, 'px', ARGV[1]) end
end
if redis.call('pttl', KEYS[1]) < tonumber(ARGV[1]) then redis.call('pexpire', KEYS[1], ARGV[1]) end
return 1`)

var readLocked = newScript(`
local mode = redis.call('hget', KEYS[1], 'mode')
if mode == 'read' or mode == 'write' and redis.call('hlen', KEYS[1]) > 2 then return 1 end
return 0`)

func (reading) label() string                  { return "read" }
func (reading) channel(l *Lock) (string, bool) { return rwChannel(l), true }

func (reading) acquire(l *Lock, lease time.Duration, held int, _ bool) call {
	return readAcquire.call([]string{l.name, rwTimeout(l)},
		lease.Milliseconds(), l.owner, l.owner+":write", held)
}

func (reading) undo(l *Lock, held int, latch string, lease time.Duration) call {
	return readUndo.call([]string{l.name, rwChannel(l), lockkeys.Braced(l.name), latch},
		l.owner, l.c.topo.publish, held, latchTime(lease))
}

func (reading) release(l *Lock, latch string, lease time.Duration) call {
	return readRelease.call([]string{l.name, rwChannel(l), lockkeys.Braced(l.name), latch},
		l.owner, l.c.topo.publish, latchTime(lease))
}

func (reading) force(l *Lock, latch string) call {
	return forceMode(l, latch, "read", 0)
}

func (reading) renew(l *Lock, lease time.Duration) call {
	return readRenew.call([]string{l.name, rwTimeout(l)}, lease.Milliseconds(), l.owner)
}

func (reading) locked(l *Lock) (call, bool) { return readLocked.call([]string{l.name}), true }
