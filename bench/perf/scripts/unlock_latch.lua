-- unlock.lua with an answer that is kept, for a client that has to ask again:
-- KEYS[3] is its key, ARGV[3] how long it is kept in ms.
local answer = redis.call('get', KEYS[3])
if answer then return tonumber(answer) end
if redis.call('hexists', KEYS[1], ARGV[2]) == 0 then return nil end
if redis.call('hincrby', KEYS[1], ARGV[2], -1) > 0 then
  redis.call('pexpire', KEYS[1], ARGV[1])
  redis.call('set', KEYS[3], 0, 'px', ARGV[3])
  return 0
end
redis.call('del', KEYS[1])
redis.call('publish', KEYS[2], '0')
redis.call('set', KEYS[3], 1, 'px', ARGV[3])
return 1
