-- rate_release gives n permits back before their interval ends, up to the rate.
-- KEYS: config value client_value permits client_permits latch
-- ARGV: n life
-- replies: 1 done; -1 the limiter has no rate
local config, value, client_value = KEYS[1], KEYS[2], KEYS[3]
local permits, client_permits, latch = KEYS[4], KEYS[5], KEYS[6]
local n, life = ARGV[1], ARGV[2]
local call = redis.call
-- include: latch
-- include: rate

local reply = rate and 1 or -1
local earlier = earlier_reply(latch, reply, life)
if earlier then return earlier end
if reply == 1 then
  call('set', value, math.min((call('get', value) or rate) + n, rate))
  keep_keys()
end
return reply
