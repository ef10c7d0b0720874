package rlock

// The scripts of RateLimiter have five keys: the configuration, then the free
// permits for all and for this client, then those given out for all and for this
// client. A member of the latter is a byte 16, the request's 16 bytes, and the
// number of permits as 4 bytes, the lowest first (Redisson 3.17).

// rateHead sets rate, interval and keep, and value and permits to the keys in
// use.
const rateHead = `
local rate, interval, kind, keep = unpack(redis.call('hmget', KEYS[1], 'rate', 'interval', 'type', 'keepAliveTime'))
if not (rate and interval and kind) then return -1 end
rate, interval = tonumber(rate), tonumber(interval)
local value, permits = KEYS[2], KEYS[4]
if kind == '1' then value, permits = KEYS[3], KEYS[5] end`

// rateSweep sets free to the number of free permits, after those given out
// longer ago than the interval came back; to false before the first. Where that
// is more than the rate, since some were released or Redisson's availablePermits
// has not looked, it counts anew.
const rateSweep = luaNow + `
local free = redis.call('get', value)
if free then
  local back = 0
  for _, member in ipairs(redis.call('zrangebyscore', permits, 0, now - interval)) do
    local _, n = struct.unpack('Bc0I', member)
    back = back + n
  end
  if back > 0 then redis.call('zremrangebyscore', permits, 0, now - interval) end
  if free + back > rate then
    back = rate - free
    for _, member in ipairs(redis.call('zrange', permits, 0, -1)) do
      local _, n = struct.unpack('Bc0I', member)
      back = back - n
    end
  end
  if back ~= 0 then free = redis.call('incrby', value, back) end
  free = tonumber(free)
end`

// rateKeep makes all keys end together.
const rateKeep = `
if keep and tonumber(keep) > 0 then
  redis.call('pexpire', KEYS[1], keep)
  redis.call('pexpire', value, keep)
  redis.call('pexpire', permits, keep)
else
  local ttl = redis.call('pttl', KEYS[1])
  if ttl > 0 then
    redis.call('pexpire', value, ttl)
    redis.call('pexpire', permits, ttl)
  end
end`

const rateMember = `
local wanted = tonumber(ARGV[1])
local member = struct.pack('Bc0I', string.len(ARGV[2]), ARGV[2], wanted)`

var (
	rateTrySet = newScript(`
redis.call('hsetnx', KEYS[1], 'rate', ARGV[1])
redis.call('hsetnx', KEYS[1], 'interval', ARGV[2])
redis.call('hsetnx', KEYS[1], 'keepAliveTime', ARGV[4])
local set = redis.call('hsetnx', KEYS[1], 'type', ARGV[3])
if set == 1 and tonumber(ARGV[4]) > 0 then redis.call('pexpire', KEYS[1], ARGV[4]) end
return set`)

	// A rate without keep-alive does not end with that of the one before.
	rateSet = newScript(`
local kept = tonumber(redis.call('hget', KEYS[1], 'keepAliveTime') or 0)
redis.call('hset', KEYS[1], 'rate', ARGV[1], 'interval', ARGV[2], 'type', ARGV[3], 'keepAliveTime', ARGV[4])
if tonumber(ARGV[4]) > 0 then
  redis.call('pexpire', KEYS[1], ARGV[4])
elseif kept > 0 then
  redis.call('persist', KEYS[1])
end
if ARGV[3] == '1' then
  redis.call('del', KEYS[3], KEYS[5])
else
  redis.call('del', KEYS[2], KEYS[4])
end`)

	// Answers nil, or how many ms it takes until enough of those given out have
	// come back.
	rateAcquire = newScript(rateHead + rateMember + `
if rate < wanted then return -2 end
if redis.call('zscore', permits, member) then return nil end` + rateSweep + `
if not free then
  free = rate
  redis.call('set', value, rate)
end
local delay
if free < wanted then
  delay = interval
  local missing = wanted - free
  local out = redis.call('zrange', permits, 0, missing - 1, 'withscores')
  for i = 1, #out, 2 do
    local _, n = struct.unpack('Bc0I', out[i])
    delay = math.max(out[i + 1] + interval - now, 1)
    missing = missing - n
    if missing <= 0 then break end
  end
else
  redis.call('zadd', permits, now, member)
  redis.call('decrby', value, wanted)
end` + rateKeep + `
return delay`)

	rateUndo = newScript(rateHead + rateMember + `
if redis.call('zrem', permits, member) == 1 and redis.call('exists', value) == 1 then
  redis.call('incrby', value, wanted)
end`)

	rateRelease = newScript(rateHead + `
local free = (redis.call('get', value) or rate) + ARGV[1]
redis.call('set', value, math.min(free, rate))` + rateKeep + `
return 1`)

	// Answers an array, since free may be negative.
	rateAvailable = newScript(rateHead + rateSweep + `
return {free or rate}`)
)
