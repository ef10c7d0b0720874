-- permit_acquire acquires one permit for each id, all or none.
-- KEYS: counter leases channel latch
-- ARGV: publish no_lease lease id...
-- replies: {1, free} acquired, by this run or an earlier one; free permits are left
-- replies: {0, free, n} not acquired; the first lease ends in n ms, -1 for no end
-- replies: {-4} the claim is over: released, undone, or its waiter left
--
-- no_lease is the score of a permit whose lease has no end. A lease of "0" ms has none.
local counter, leases, channel, latch = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local publish, no_lease, lease = ARGV[1], ARGV[2], ARGV[3]
local call = redis.call
-- include: permits

if call('exists', latch) == 1 then return {-4} end
sweep()
local free = tonumber(call('get', counter) or 0)
local deadline = tonumber(lease == '0' and no_lease or now + lease)
if call('zscore', leases, ARGV[4]) then
  -- The client trusts a lease that begins when it sent this copy.
  for i = 4, #ARGV do
    local score = call('zscore', leases, ARGV[i])
    if score and tonumber(score) < deadline then call('zadd', leases, deadline, ARGV[i]) end
  end
  return {1, free}
end
local wanted = #ARGV - 3
if free < wanted then
  local first = call('zrange', leases, 0, 0, 'withscores')
  if not first[2] or first[2] == no_lease then return {0, free, -1} end
  return {0, free, first[2] - now}
end
for i = 4, #ARGV do call('zadd', leases, deadline, ARGV[i]) end
free = call('decrby', counter, wanted)
local ttl = call('pttl', counter)
if ttl > 0 then call('pexpire', leases, ttl) end
return {1, free}
