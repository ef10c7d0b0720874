-- permit_set sets the number of permits, acquired and free together.
-- KEYS: counter leases channel latch
-- ARGV: publish life n
-- replies: 1 the number changed; 0 it was n already
local counter, leases, channel, latch = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local publish, life, n = ARGV[1], ARGV[2], ARGV[3]
local call = redis.call

local earlier = call('get', latch)
if earlier then return tonumber(earlier) end
local free, reply = call('get', counter), 1
if not free then
  call('set', counter, n)
elseif n - free - call('zcard', leases) ~= 0 then
  call('incrby', counter, n - free - call('zcard', leases))
else
  reply = 0
end
if reply == 1 then call(publish, channel, n) end
call('set', latch, reply, 'px', life)
return reply
