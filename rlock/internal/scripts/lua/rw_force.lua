-- rw_force deletes the lock if it is held in the given mode.
-- KEYS: lock channel latch
-- ARGV: publish life mode message
-- replies: 1 the lock was held in that mode; 0 it was not
local lock, channel, latch = KEYS[1], KEYS[2], KEYS[3]
local publish, life, mode, message = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local call = redis.call
-- include: latch

local reply = call('hget', lock, 'mode') == mode and 1 or 0
local earlier = earlier_reply(latch, reply, life)
if earlier then return earlier end
if reply == 1 then
  call('del', lock)
  call(publish, channel, message)
end
return reply
