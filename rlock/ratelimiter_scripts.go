package rlock

// The scripts of RateLimiter have five keys: the configuration; the counters of free
// permits of all clients and of this client; the sorted sets of granted permits of
// all clients and of this client. A member of a sorted set is a byte 16, the request
// id of 16 bytes, and the number of permits as 4 bytes, little-endian (the format of
// Redisson 3.17).

// rateHead reads rate, interval and keep, and sets value and permits to the keys of
// the rate's type. Without a rate it replies -1.
const rateHead = `
local rate, interval, kind, keep = unpack(redis.call('hmget', KEYS[1], 'rate', 'interval', 'type', 'keepAliveTime'))
if not (rate and interval and kind) then return -1 end
rate, interval = tonumber(rate), tonumber(interval)
local value, permits = KEYS[2], KEYS[4]
if kind == '1' then value, permits = KEYS[3], KEYS[5] end`

// rateSweep frees the permits granted before the interval, and sets free to the
// number of free permits, or to false before the first acquisition. When the counter
// exceeds the rate, it computes the counter again from the granted permits. That
// happens after a release, or when Redisson's availablePermits has left the counter
// too high.
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

// rateKeep gives all keys of the limiter the same time to live.
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

	// rateSet removes the time to live of an earlier rate with a keep-alive.
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

	// rateAcquire replies nil when it granted the permits, otherwise the number of
	// ms until enough granted permits are free again.
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

	// rateAvailable replies an array, because free may be negative as -1 (no rate) is.
	rateAvailable = newScript(rateHead + rateSweep + `
return {free or rate}`)
)
