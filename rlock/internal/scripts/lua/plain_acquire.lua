-- plain_acquire acquires the lock for the owner.
-- KEYS: lock latch
-- ARGV: lease owner copy
-- replies: '' the claim is granted, by this run or an earlier one
-- replies: n >= -1 another owner holds the lock; its lease ends in n ms, -1 for no end
-- replies: -4 the claim is over: released, undone, or its waiter left
--
-- While the slot of a cluster moves, a script can have one key: without a latch no late
-- copy is refused.
--
-- The cost of a script is mostly its commands. copy "first" says that no other copy can
-- have been granted the lock, so a lock that is held is another owner's. copy "woken"
-- also expects that it is held: many waiters are woken, one of them gets it. Any other copy
-- looks whether the owner holds the lock.
local lock, latch = KEYS[1], KEYS[2]
local lease, owner, copy = ARGV[1], ARGV[2], ARGV[3]
local call = redis.call

if copy == 'woken' then
  local ttl = call('pttl', lock)
  if ttl ~= -2 then return ttl end
end
local found = latch and call('exists', lock, latch) or call('exists', lock)
if found == 0 then
  call('hset', lock, owner, '1')
  call('pexpire', lock, lease)
  return ''
end
if found == 2 then return -4 end
local ttl = call('pttl', lock)
if ttl == -1 then call('hlen', lock) end -- no lock is without a lease: is it a hash?
if copy == 'first' and ttl ~= -2 then return ttl end
if call('hexists', lock, owner) == 0 then return ttl == -2 and -4 or ttl end
if ttl < tonumber(lease) then call('pexpire', lock, lease) end
return ''
