-- counter_create creates a counter with the number n and publishes message.
-- KEYS: counter channel latch
-- ARGV: publish life n message
-- replies: 1 created; 0 it existed
local counter, channel, latch = KEYS[1], KEYS[2], KEYS[3]
local publish, life, n, message = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local call = redis.call

local earlier = call('get', latch)
if earlier then return tonumber(earlier) end
local reply = 0
if call('exists', counter) == 0 then
  call('set', counter, n)
  call(publish, channel, message)
  reply = 1
end
call('set', latch, reply, 'px', life)
return reply
