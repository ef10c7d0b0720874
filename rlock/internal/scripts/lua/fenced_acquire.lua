-- fenced_acquire is plain_acquire with a token from a counter.
-- KEYS: lock latch counter
-- ARGV: lease owner copy
-- replies: {-1, token} the claim is granted, by this run or an earlier one
-- replies: {n, -1} another owner holds the lock; its lease ends in n ms, -1 for no end
-- replies: {-4, -1} the claim is over: released, undone, or its waiter left
--
-- A granted token is positive. A second run replies the token of the first run: no
-- other owner can have raised the counter while this owner holds the lock.
local lock, latch, counter = KEYS[1], KEYS[2], KEYS[3]
local lease, owner, copy = ARGV[1], ARGV[2], ARGV[3]
local call = redis.call

if copy == 'woken' then
  local ttl = call('pttl', lock)
  if ttl ~= -2 then return {ttl, -1} end
end
local found = call('exists', lock, latch)
if found == 0 then
  call('hset', lock, owner, '1')
  call('pexpire', lock, lease)
  return {-1, call('incr', counter)}
end
if found == 2 then return {-4, -1} end
local ttl = call('pttl', lock)
if ttl == -1 then call('hlen', lock) end -- no lock is without a lease: is it a hash?
if copy == 'first' and ttl ~= -2 then return {ttl, -1} end
if call('hexists', lock, owner) == 0 then return {ttl == -2 and -4 or ttl, -1} end
if ttl < tonumber(lease) then call('pexpire', lock, lease) end
return {-1, tonumber(call('get', counter) or call('incr', counter))}
