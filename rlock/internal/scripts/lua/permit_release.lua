-- permit_release gives the permits back, all or none.
-- KEYS: counter leases channel latch tombstone
-- ARGV: publish life id...
-- replies: 1 released; 0 one of the permits is not held
--
-- tombstone is the latch of the acquisition. It may be the same key as latch.
local counter, leases, channel = KEYS[1], KEYS[2], KEYS[3]
local latch, tombstone = KEYS[4], KEYS[5]
local publish, life = ARGV[1], ARGV[2]
local call = redis.call
-- include: latch
-- include: permits

local reply = 1
for i = 3, #ARGV do
  local deadline = call('zscore', leases, ARGV[i])
  if not deadline or tonumber(deadline) <= now then reply = 0 end
end
local earlier = earlier_reply(latch, reply, life)
if earlier then return earlier end
if tombstone ~= latch then call('set', tombstone, reply, 'px', life) end
if reply == 0 then
  sweep()
  return 0
end
local released = 0
for i = 3, #ARGV do released = released + call('zrem', leases, ARGV[i]) end
give(released)
return 1
