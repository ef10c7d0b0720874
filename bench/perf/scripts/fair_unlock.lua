-- Gives a hold of fair_lock.lua back and tells who is next on a channel of its own,
-- whose name begins with KEYS[4]. KEYS[5] is the latch, ARGV[3] its time in ms,
-- ARGV[4] the time.
local answer = redis.call('get', KEYS[5])
if answer then return tonumber(answer) end
local now = tonumber(ARGV[4])
while true do
  local first = redis.call('lindex', KEYS[2], 0)
  if not first then break end
  if tonumber(redis.call('zscore', KEYS[3], first)) > now then break end
  redis.call('zrem', KEYS[3], first)
  redis.call('lpop', KEYS[2])
end
if redis.call('hexists', KEYS[1], ARGV[2]) == 0 then return nil end
if redis.call('hincrby', KEYS[1], ARGV[2], -1) > 0 then
  redis.call('pexpire', KEYS[1], ARGV[1])
  redis.call('set', KEYS[5], 0, 'px', ARGV[3])
  return 0
end
redis.call('del', KEYS[1])
redis.call('set', KEYS[5], 1, 'px', ARGV[3])
local first = redis.call('lindex', KEYS[2], 0)
if first then redis.call('publish', KEYS[4] .. ':' .. first, '0') end
return 1
