-- sem_undo ends an acquisition and gives its permits back if sem_acquire granted them.
-- KEYS: counter channel latch
-- ARGV: publish life n
-- replies: 1 given back by this run; 0 nothing to give back
--
-- latch is the acquisition's latch. It must still exist if permits were granted.
local counter, channel, latch = KEYS[1], KEYS[2], KEYS[3]
local publish, life, n = ARGV[1], ARGV[2], ARGV[3]
local call = redis.call

local granted = call('get', latch) == '1'
call('del', latch) -- comes first: at maxmemory the script may write after it
call('set', latch, '-4', 'px', life)
if not granted then return 0 end
local free = call('incrby', counter, n)
if free > 0 then call(publish, channel, free) end
return 1
