-- write_acquire acquires the lock for the owner to write.
-- KEYS: lock latch
-- ARGV: lease owner
-- replies: '' the claim is granted, by this run or an earlier one
-- replies: n >= -1 other owners hold the lock; it ends in n ms, -1 for no end
-- replies: -4 the claim is over: released, undone, or its waiter left
--
-- The latch may be left out, see plain_acquire.
local lock, latch = KEYS[1], KEYS[2]
local lease, owner = ARGV[1], ARGV[2]
local call = redis.call

local field = owner .. ':write'
local found = latch and call('exists', lock, latch) or call('exists', lock)
if found == 0 then
  call('hset', lock, 'mode', 'write', field, '1')
  call('pexpire', lock, lease)
  return ''
end
if found == 2 then return -4 end
local own, ttl = call('hexists', lock, field), call('pttl', lock)
if own == 0 then return ttl == -2 and -4 or ttl end
if ttl < tonumber(lease) then call('pexpire', lock, lease) end
return ''
