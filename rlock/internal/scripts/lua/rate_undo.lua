-- rate_undo ends an acquisition and gives its permits back if they were granted.
-- KEYS: config value client_value permits client_permits latch
-- ARGV: n id life
-- replies: 1 given back; 0 nothing to give back
--
-- latch is the acquisition's latch.
local config, value, client_value = KEYS[1], KEYS[2], KEYS[3]
local permits, client_permits, latch = KEYS[4], KEYS[5], KEYS[6]
local n, id, life = tonumber(ARGV[1]), ARGV[2], ARGV[3]
local call = redis.call
-- include: latch
-- include: rate
-- include: rate_member

local reply = rate and call('zscore', permits, member) and 1 or 0
local earlier = earlier_reply(latch, reply, life)
if earlier then return earlier end
if reply == 1 then
  call('zrem', permits, member)
  if call('exists', value) == 1 then call('incrby', value, n) end
end
return reply
