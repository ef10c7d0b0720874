-- plain_force deletes the lock, whichever owner holds it.
-- KEYS: lock channel latch
-- ARGV: publish life
-- replies: 1 the lock was held; 0 it was free
--
-- An empty publish sends no message.
local lock, channel, latch = KEYS[1], KEYS[2], KEYS[3]
local publish, life = ARGV[1], ARGV[2]
local call = redis.call
-- include: latch

local reply = math.min(call('hlen', lock), 1) -- an error for a key that is no hash
local earlier = earlier_reply(latch, reply, life)
if earlier then return earlier end
if reply == 1 then
  call('del', lock)
  if publish ~= '' then call(publish, channel, '0') end
end
return reply
