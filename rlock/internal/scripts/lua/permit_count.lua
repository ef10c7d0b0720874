-- permit_count counts the permits.
-- KEYS: counter leases channel
-- ARGV: publish
-- replies: {free, acquired, all}; free may be negative, all is 0 without a counter
local counter, leases, channel = KEYS[1], KEYS[2], KEYS[3]
local publish = ARGV[1]
-- include: permits

sweep()
local free, acquired = redis.call('get', counter), redis.call('zcard', leases)
return {tonumber(free or 0), acquired, free and free + acquired or 0}
