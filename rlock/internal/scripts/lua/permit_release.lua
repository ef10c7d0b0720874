-- permit_release gives the permits back, all or none.
-- KEYS: counter leases channel latch claim...
-- ARGV: publish life id...
-- replies: 1 released; 0 one of the permits is not held
--
-- Each claim is the latch of an acquisition. It is sealed: the hold of the acquisition may
-- still have other permits, and its undo gives them back.
local counter, leases, channel, latch = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
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
for i = 5, #KEYS do
  -- A latch that exists keeps a reply or places of changes. Acquire scripts refuse it too.
  if call('pexpire', KEYS[i], life) == 0 then call('set', KEYS[i], 'sealed', 'px', life) end
end
if reply == 0 then
  sweep()
  return 0
end
local released = 0
for i = 3, #ARGV do released = released + call('zrem', leases, ARGV[i]) end
give(released)
return 1
