-- sem_add changes the number of free permits by n: a release, or with n < 0 a removal.
-- KEYS: counter channel latch
-- ARGV: publish life n
-- replies: the number of free permits
local counter, channel, latch = KEYS[1], KEYS[2], KEYS[3]
local publish, life, n = ARGV[1], ARGV[2], tonumber(ARGV[3])
local call = redis.call
-- include: latch

local free = tonumber(call('get', counter) or 0) + n
local earlier = earlier_reply(latch, free, life)
if earlier then return earlier end
call('incrby', counter, n)
if free > 0 then call(publish, channel, free) end
return free
