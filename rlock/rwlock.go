package rlock

import (
	"time"

	"github.com/lockredis/lockredis/internal/lockkeys"
)

// RWLock is one owner's view of a lock that many may hold for reading or one for
// writing. It is Redisson's RReadWriteLock (RedissonReadWriteLock). Goroutines
// that are to exclude each other need an RWLock each.
//
// Who holds it for writing may take the read lock too, and by then unlocking the
// write lock keeps it for reading without a moment in which another could write.
// The other way round there is none: to lock for writing while holding the read
// lock waits for oneself, until the context ends.
//
// There is no order among those who wait, and readers do not make way for a
// writer.
//
// A reader's crash keeps writers out for the rest of its lease, a writer's crash
// everybody. Readers may have different leases: the lock is held until the longest
// of them is over.
type RWLock struct{ read, write *Lock }

// RWLock returns a read-write lock with an owner of its own, which its two locks
// share.
func (c *Client) RWLock(name string, options ...LockOption) *RWLock {
	read := c.newLock(name, reading{}, options)
	write := c.newLock(name, writing{}, []LockOption{func(l *Lock) {
		l.owner, l.known = read.owner, read.known
	}})
	return &RWLock{read, write}
}

// Read returns the lock for reading (RedissonReadLock), always the same one.
//
// Its IsLocked reports whether anybody reads, be it the writer. Its ForceUnlock
// ends the holds of all readers, and does nothing while the lock is held for
// writing.
func (rw *RWLock) Read() *Lock { return rw.read }

// Write returns the lock for writing (RedissonWriteLock), always the same one.
//
// Locking it again adds its lease to what is left of the present one. Its
// ForceUnlock takes what the writer has locked for reading with it, and does
// nothing while the lock is held for reading.
func (rw *RWLock) Write() *Lock { return rw.write }

// The lock is a hash: "mode" tells how it is locked, an owner's field how often it
// reads, and owner:write how often it writes. Each of an owner's read holds has a
// key of its own, {name}:owner:rwlock_timeout:n, which lives as long as the hold's
// lease: the hash lives as long as the longest.

// rwTimeout is the name of an owner's read holds, without their numbers.
func rwTimeout(l *Lock) string { return lockkeys.ReadHolds(l.name, l.owner) }

// rwChannel is told 0 by readers and 1 by writers. Redisson lets 0 wake one who
// waits and 1 all of them; here both do.
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

// readDrop ends one of the owner's holds and answers 1 when it was the last. Other
// than in Redisson the rest of the hold's lease goes to the hold below, so that
// unlocking shortens no lease that the owner trusts, and a writer's lease is left
// as it is.
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

// rwForce works in the mode of ARGV[1] only.
var rwForce = newScript(`
if redis.call('exists', KEYS[3]) == 1 then return 1 end
if redis.call('hget', KEYS[1], 'mode') ~= ARGV[1] then return 0 end
redis.call('del', KEYS[1])
redis.call(ARGV[3], KEYS[2], ARGV[2])
redis.call('set', KEYS[3], 1, 'px', ARGV[4])
return 1`)

func forceMode(l *Lock, latch, mode string, message int) call {
	return rwForce.call([]string{l.name, rwChannel(l), latch}, mode, message, l.c.topo.publish, latchTime(l.c.opts.Lease))
}

// Other than in Redisson a renewal shortens no other reader's lease.
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
	return readAcquire.call([]string{l.name, rwTimeout(l)}, lease.Milliseconds(), l.owner, l.owner+":write", held)
}

func (reading) undo(l *Lock, held int, latch string, lease time.Duration) call {
	return readUndo.call([]string{l.name, rwChannel(l), lockkeys.Braced(l.name), latch}, l.owner, l.c.topo.publish, held, latchTime(lease))
}

func (reading) release(l *Lock, latch string, lease time.Duration) call {
	return readRelease.call([]string{l.name, rwChannel(l), lockkeys.Braced(l.name), latch}, l.owner, l.c.topo.publish, latchTime(lease))
}

func (reading) force(l *Lock, latch string) call {
	return forceMode(l, latch, "read", 0)
}

func (reading) renew(l *Lock, lease time.Duration) call {
	return readRenew.call([]string{l.name, rwTimeout(l)}, lease.Milliseconds(), l.owner)
}

func (reading) locked(l *Lock) (call, bool) { return readLocked.call([]string{l.name}), true }
