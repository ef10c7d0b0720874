-- permit_add changes the number of free permits by n, which may be negative.
-- KEYS: counter channel latch
-- ARGV: publish life n
-- replies: the number of free permits
local counter, channel, latch = KEYS[1], KEYS[2], KEYS[3]
local publish, life, n = ARGV[1], ARGV[2], ARGV[3]
local call = redis.call

local earlier = call('get', latch)
if earlier then return tonumber(earlier) end
local free = call('incrby', counter, n)
if tonumber(n) > 0 then call(publish, channel, n) end
call('set', latch, free, 'px', life)
return free
