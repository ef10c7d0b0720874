-- lock.lua with a queue: KEYS[2] is a list of owners, KEYS[3] a sorted set of the
-- times until which each of them is waited for. ARGV[1] is the lease in ms, ARGV[2]
-- the owner, ARGV[3] how long one is waited for in ms, ARGV[4] the time.
local now = tonumber(ARGV[4])
while true do
  local first = redis.call('lindex', KEYS[2], 0)
  if not first then break end
  if tonumber(redis.call('zscore', KEYS[3], first)) > now then break end
  redis.call('zrem', KEYS[3], first)
  redis.call('lpop', KEYS[2])
end
local free = redis.call('exists', KEYS[1]) == 0
if free and (redis.call('exists', KEYS[2]) == 0 or redis.call('lindex', KEYS[2], 0) == ARGV[2]) then
  redis.call('lpop', KEYS[2])
  redis.call('zrem', KEYS[3], ARGV[2])
  for _, other in ipairs(redis.call('zrange', KEYS[3], 0, -1)) do
    redis.call('zincrby', KEYS[3], -tonumber(ARGV[3]), other)
  end
  redis.call('hset', KEYS[1], ARGV[2], 1)
  redis.call('pexpire', KEYS[1], ARGV[1])
  return nil
end
if redis.call('hexists', KEYS[1], ARGV[2]) == 1 then
  redis.call('hincrby', KEYS[1], ARGV[2], 1)
  redis.call('pexpire', KEYS[1], ARGV[1])
  return nil
end
local last = redis.call('lindex', KEYS[2], -1)
local wait = last and tonumber(redis.call('zscore', KEYS[3], last)) - now or redis.call('pttl', KEYS[1])
if redis.call('zadd', KEYS[3], wait + tonumber(ARGV[3]) + now, ARGV[2]) == 1 then
  redis.call('rpush', KEYS[2], ARGV[2])
end
return wait
