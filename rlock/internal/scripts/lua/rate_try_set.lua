-- rate_try_set gives the limiter a rate if it has none.
-- KEYS: config latch
-- ARGV: rate interval kind keep life
-- replies: 1 set; 0 it has a rate
local config, latch = KEYS[1], KEYS[2]
local rate, interval, kind, keep, life = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local call = redis.call

local earlier = call('get', latch)
if earlier then return tonumber(earlier) end
call('hsetnx', config, 'rate', rate)
call('hsetnx', config, 'interval', interval)
call('hsetnx', config, 'keepAliveTime', keep)
local set = call('hsetnx', config, 'type', kind)
if set == 1 and tonumber(keep) > 0 then call('pexpire', config, keep) end
call('set', latch, set, 'px', life)
return set
