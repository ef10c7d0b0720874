-- fair_force deletes the lock, whichever owner holds it, and wakes the first waiter.
-- KEYS: lock channel latch queue timeouts
-- ARGV: publish life patience
-- replies: 1 the lock was held; 0 it was free
local lock, channel, latch, queue, timeouts = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local publish, life, patience = ARGV[1], ARGV[2], tonumber(ARGV[3])
local call = redis.call
-- include: latch
-- include: fair_queue

local reply = math.min(call('hlen', lock), 1) -- an error for a key that is no hash
local earlier = earlier_reply(latch, reply, life)
if earlier then return earlier end
if reply == 1 then
  call('del', lock)
  wake()
end
return reply
