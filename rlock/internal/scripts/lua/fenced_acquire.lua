-- fenced_acquire is plain_acquire with a token from a counter.
-- KEYS: lock latch counter
-- ARGV: lease owner held copy
-- replies: {-1, token} the claim is granted, by this run or an earlier one
-- replies: {n, -1} another owner holds the lock; its lease ends in n ms, -1 for no end
-- replies: {-3, -1} the owner's earlier holds are gone
-- replies: {-4, -1} the claim is over: released, undone, or its waiter left
--
-- A granted token is positive. A second run replies the token of the first run: no
-- other owner can have raised the counter while this owner holds the lock.
local lock, latch, counter = KEYS[1], KEYS[2], KEYS[3]
local lease, owner, held, copy = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
local call = redis.call

if copy == 'woken' then
  local ttl = call('pttl', lock)
  if ttl ~= -2 then return {ttl, -1} end
end
local found = call('exists', lock, latch)
if found == 0 then
  if held > 0 then return {-3, -1} end
  call('hset', lock, owner, '1')
  call('pexpire', lock, lease)
  return {-1, call('incr', counter)}
end
if found == 2 then return {-4, -1} end
local ttl = call('pttl', lock)
if ttl == -1 then call('hlen', lock) end -- no lock is without a lease: is it a hash?
if copy == 'first' and ttl ~= -2 then return {ttl, -1} end
local count = call('hget', lock, owner)
if not count then
  if ttl == -2 then return {-4, -1} end
  return {held > 0 and -3 or ttl, -1}
end
local token
if tonumber(count) == held + 1 then
  token = call('get', counter)
else
  call('hincrby', lock, owner, '1')
end
if ttl < tonumber(lease) then call('pexpire', lock, lease) end
return {-1, tonumber(token or call('incr', counter))}
