-- permit_undo ends an acquisition and gives back its permits, if they are held.
-- KEYS: counter leases channel latch
-- ARGV: publish life id...
-- replies: the number of permits that were held until now
--
-- latch is the acquisition's latch. A permit whose lease has ended is given back too.
local counter, leases, channel, latch = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local publish, life = ARGV[1], ARGV[2]
local call = redis.call
-- include: latch
-- include: permits

local held = 0
for i = 3, #ARGV do
  local deadline = call('zscore', leases, ARGV[i])
  if deadline and tonumber(deadline) > now then held = held + 1 end
end
local earlier = earlier_reply(latch, held, life)
if earlier then return earlier end
local back = 0
for i = 3, #ARGV do back = back + call('zrem', leases, ARGV[i]) end
if back > 0 then give(back) end
return held
