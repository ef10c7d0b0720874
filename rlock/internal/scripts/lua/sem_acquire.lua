-- sem_acquire takes n permits, all or none.
-- KEYS: counter latch
-- ARGV: life n
-- replies: {1, free} acquired, by this run or an earlier one; free permits are left
-- replies: {0, free} not acquired
-- replies: {-4, free} the claim is over: undone, or its waiter left
--
-- The latch has the value 1 after the acquisition. Any other value ends the claim.
local counter, latch = KEYS[1], KEYS[2]
local life, n = ARGV[1], tonumber(ARGV[2])
local call = redis.call

local free, claim = tonumber(call('get', counter) or 0), call('get', latch)
if claim then return {claim == '1' and 1 or -4, free} end
if free < n then return {0, free} end
free = call('decrby', counter, n)
call('set', latch, '1', 'px', life)
return {1, free}
