-- rate_available tells the number of free permits.
-- KEYS: config value client_value permits client_permits
-- ARGV:
-- replies: {n} n permits are free; it may be negative
-- replies: -1 the limiter has no rate
local config, value, client_value = KEYS[1], KEYS[2], KEYS[3]
local permits, client_permits = KEYS[4], KEYS[5]
-- include: rate
-- include: rate_sweep

if not rate then return -1 end
return {sweep() or rate}
