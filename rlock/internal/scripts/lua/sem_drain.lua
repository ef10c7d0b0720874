-- sem_drain takes all free permits.
-- KEYS: counter latch
-- ARGV: life
-- replies: the number of permits taken; negative if more were acquired than existed
local counter, latch = KEYS[1], KEYS[2]
local life = ARGV[1]
local call = redis.call

local earlier = call('get', latch)
if earlier then return tonumber(earlier) end
local free = call('get', counter)
if free then call('set', counter, '0') end
call('set', latch, free or '0', 'px', life)
return tonumber(free or 0)
