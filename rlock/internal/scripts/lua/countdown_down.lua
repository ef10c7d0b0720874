-- countdown_down lowers the count by one, and deletes it at 0.
-- KEYS: counter channel latch
-- ARGV: publish life
-- replies: the count; -1 it was 0 already
local counter, channel, latch = KEYS[1], KEYS[2], KEYS[3]
local publish, life = ARGV[1], ARGV[2]
local call = redis.call
-- include: latch

local left = tonumber(call('get', counter) or 0) - 1
local earlier = earlier_reply(latch, left, life)
if earlier then return earlier end
if left > 0 then
  call('decr', counter)
else
  call('del', counter)
end
if left == 0 then call(publish, channel, '0') end
return left
