-- Gives a hold of read_lock.lua back. KEYS[3] is the channel that is told, KEYS[4]
-- what the keys of everybody's holds begin with, KEYS[5] the latch, ARGV[3] its time.
local answer = redis.call('get', KEYS[5])
if answer then return tonumber(answer) end
local mode = redis.call('hget', KEYS[1], 'mode')
if not mode or redis.call('hexists', KEYS[1], ARGV[2]) == 0 then return nil end
local count = redis.call('hincrby', KEYS[1], ARGV[2], -1)
if count == 0 then redis.call('hdel', KEYS[1], ARGV[2]) end
redis.call('del', KEYS[2] .. ':' .. count + 1)
if redis.call('hlen', KEYS[1]) > 1 then
  local longest = -3
  for _, owner in ipairs(redis.call('hkeys', KEYS[1])) do
    for i = tonumber(redis.call('hget', KEYS[1], owner)) or 0, 1, -1 do
      longest = math.max(redis.call('pttl', KEYS[4] .. ':' .. owner .. ':rwlock_timeout:' .. i), longest)
    end
  end
  if longest > 0 then
    redis.call('pexpire', KEYS[1], longest)
    redis.call('set', KEYS[5], 0, 'px', ARGV[3])
    return 0
  end
end
redis.call('del', KEYS[1])
redis.call('publish', KEYS[3], '0')
redis.call('set', KEYS[5], 1, 'px', ARGV[3])
return 1
