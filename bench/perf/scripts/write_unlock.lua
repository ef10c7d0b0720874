-- Gives a hold of write_lock.lua back. KEYS[2] is the channel that is told, KEYS[3] the
-- latch, ARGV[3] its time in ms.
local answer = redis.call('get', KEYS[3])
if answer then return tonumber(answer) end
local mode = redis.call('hget', KEYS[1], 'mode')
if mode ~= 'write' or redis.call('hexists', KEYS[1], ARGV[2]) == 0 then return nil end
if redis.call('hincrby', KEYS[1], ARGV[2], -1) > 0 then
  redis.call('pexpire', KEYS[1], ARGV[1])
  redis.call('set', KEYS[3], 0, 'px', ARGV[3])
  return 0
end
redis.call('hdel', KEYS[1], ARGV[2])
if redis.call('hlen', KEYS[1]) == 1 then
  redis.call('del', KEYS[1])
  redis.call('publish', KEYS[2], '1')
else
  redis.call('hset', KEYS[1], 'mode', 'read')
end
redis.call('set', KEYS[3], 1, 'px', ARGV[3])
return 1
