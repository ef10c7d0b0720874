-- read_acquire acquires the lock for the owner to read.
-- KEYS: lock latch prefix
-- ARGV: lease owner
-- replies: '' the claim is granted, by this run or an earlier one
-- replies: n >= -1 another owner writes; its lease ends in n ms, -1 for no end
-- replies: -4 the claim is over: released, undone, or its waiter left
--
-- The lock is a hash. The field mode is "read" or "write", the field owner has the
-- owner's read hold count, the field owner:write its write hold count. The counts of this
-- package's owners are 1. Each read hold also has a key, prefix:owner:rwlock_timeout:n,
-- whose time to live is the hold's lease. The time to live of the hash is the longest of
-- them.
local lock, latch, prefix = KEYS[1], KEYS[2], KEYS[3]
local lease, owner = tonumber(ARGV[1]), ARGV[2]
local call = redis.call

local timeout = prefix .. ':' .. owner .. ':rwlock_timeout:1'
local found = call('exists', lock, latch)
if found == 0 then
  call('hset', lock, 'mode', 'read', owner, '1')
  call('set', timeout, '1', 'px', lease)
  call('pexpire', lock, lease)
  return ''
end
if found == 2 then return -4 end
local own, ttl = call('hexists', lock, owner), call('pttl', lock)
if ttl == -2 then return -4 end
if own == 0 then
  if call('hget', lock, 'mode') ~= 'read' and call('hexists', lock, owner .. ':write') == 0 then
    return ttl
  end
  call('hset', lock, owner, '1')
end
if own == 0 or call('pttl', timeout) < lease then call('set', timeout, '1', 'px', lease) end
if ttl < lease then call('pexpire', lock, lease) end
return ''
