package rlock

// noLease is the score of a permit without an end of its lease. Redisson uses the
// same value.
const noLease = 922337203685477

// The scripts of PermitSemaphore have three keys: the counter, the leases and the
// channel. Their first argument is the publish command.

// luaNow sets now to the server's time in ms.
const luaNow = `
local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)`

// permitSweep frees the permits whose lease has ended and publishes that.
const permitSweep = luaNow + `
local over = redis.call('zremrangebyscore', KEYS[2], 0, now)
if over > 0 then
  local free = redis.call('incrby', KEYS[1], over)
  if free > 0 then redis.call(ARGV[1], KEYS[3], free) end
end`

// permitDeadline sets deadline to the end of a lease of ARGV[3] ms.
const permitDeadline = `
local deadline = ARGV[2]
if ARGV[3] ~= '0' then deadline = now + ARGV[3] end`

var (
	permitSet = newScript(`
local free = redis.call('get', KEYS[1])
if not free then
  redis.call('set', KEYS[1], ARGV[2])
else
  local change = ARGV[2] - free - redis.call('zcard', KEYS[2])
  if change == 0 then return end
  redis.call('incrby', KEYS[1], change)
end
redis.call(ARGV[1], KEYS[3], ARGV[2])`)

	permitAdd = newScript(`
redis.call('incrby', KEYS[1], ARGV[2])
if tonumber(ARGV[2]) > 0 then redis.call(ARGV[1], KEYS[3], ARGV[2]) end`)

	// permitAcquire replies {1, free} when it acquired the permits. Otherwise it
	// replies {0, free, ms}: the time until the first lease ends, -1 for no end.
	permitAcquire = newScript(permitSweep + `
if redis.call('zscore', KEYS[2], ARGV[4]) then return {1, 0} end
local wanted = #ARGV - 3
local free = tonumber(redis.call('get', KEYS[1]) or 0)
if free < wanted then
  local first = redis.call('zrange', KEYS[2], 0, 0, 'withscores')
  if not first[2] or first[2] == ARGV[2] then return {0, free, -1} end
  return {0, free, first[2] - now}
end` + permitDeadline + `
for i = 4, #ARGV do redis.call('zadd', KEYS[2], deadline, ARGV[i]) end
free = redis.call('decrby', KEYS[1], wanted)
local ttl = redis.call('pttl', KEYS[1])
if ttl > 0 then redis.call('pexpire', KEYS[2], ttl) end
return {1, free}`)

	permitUndo = newScript(`
local taken = 0
for i = 2, #ARGV do taken = taken + redis.call('zrem', KEYS[2], ARGV[i]) end
if taken > 0 then redis.call(ARGV[1], KEYS[3], redis.call('incrby', KEYS[1], taken)) end
return taken`)

	// permitRelease also frees a permit whose lease has ended but which no script
	// has swept yet; it then replies 0 (not held).
	permitRelease = newScript(luaNow + `
if redis.call('exists', KEYS[4]) == 1 then return 1 end
local deadline = redis.call('zscore', KEYS[2], ARGV[3])
if not deadline then return 0 end
redis.call('zrem', KEYS[2], ARGV[3])
redis.call(ARGV[1], KEYS[3], redis.call('incrby', KEYS[1], 1))
if tonumber(deadline) <= now then return 0 end
redis.call('set', KEYS[4], 1, 'px', ARGV[2])
return 1`)

	permitReleaseN = newScript(`
if redis.call('exists', KEYS[4]) == 1 then return 1 end` + permitSweep + `
for i = 3, #ARGV do
  if not redis.call('zscore', KEYS[2], ARGV[i]) then return 0 end
end
local released = 0
for i = 3, #ARGV do released = released + redis.call('zrem', KEYS[2], ARGV[i]) end
redis.call('incrby', KEYS[1], released)
redis.call(ARGV[1], KEYS[3], released)
redis.call('set', KEYS[4], 1, 'px', ARGV[2])
return released`)

	permitUpdate = newScript(permitSweep + permitDeadline + `
if not redis.call('zscore', KEYS[2], ARGV[4]) then return 0 end
redis.call('zadd', KEYS[2], deadline, ARGV[4])
return 1`)

	permitLeaseTime = newScript(permitSweep + `
local deadline = redis.call('zscore', KEYS[2], ARGV[3])
if not deadline then return 0 end
if deadline == ARGV[2] then return -1 end
return deadline - now`)

	permitAvailable = newScript(permitSweep + `
return tonumber(redis.call('get', KEYS[1]) or 0)`)

	permitAcquired = newScript(permitSweep + `
return redis.call('zcard', KEYS[2])`)

	permitTotal = newScript(permitSweep + `
local free = redis.call('get', KEYS[1])
if not free then return 0 end
return free + redis.call('zcard', KEYS[2])`)
)
