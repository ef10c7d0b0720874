-- rate_set sets or replaces the rate and forgets the permits granted before.
-- KEYS: config value client_value permits client_permits latch
-- ARGV: rate interval kind keep life
-- replies: 1
--
-- It removes the time to live of an earlier rate with a keep-alive.
local config, value, client_value = KEYS[1], KEYS[2], KEYS[3]
local permits, client_permits, latch = KEYS[4], KEYS[5], KEYS[6]
local rate, interval, kind, keep, life = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local call = redis.call

if call('exists', latch) == 1 then return 1 end
local kept = tonumber(call('hget', config, 'keepAliveTime') or 0)
call('hset', config, 'rate', rate, 'interval', interval, 'type', kind, 'keepAliveTime', keep)
if tonumber(keep) > 0 then
  call('pexpire', config, keep)
elseif kept > 0 then
  call('persist', config)
end
if kind == '1' then
  call('del', client_value, client_permits)
else
  call('del', value, permits)
end
call('set', latch, '1', 'px', life)
return 1
