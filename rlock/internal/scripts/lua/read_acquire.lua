-- read_acquire raises the owner's read hold count from held to held+1.
-- KEYS: lock latch prefix
-- ARGV: lease owner held
-- replies: '' the claim is granted, by this run or an earlier one
-- replies: n >= -1 another owner writes; its lease ends in n ms, -1 for no end
-- replies: -3 the owner's earlier read holds are gone
-- replies: -4 the claim is over: released, undone, or its waiter left
--
-- The lock is a hash. The field mode is "read" or "write", the field owner has the
-- owner's read hold count, the field owner:write its write hold count. Each read hold
-- also has a key, prefix:owner:rwlock_timeout:n, whose time to live is the hold's lease.
-- The time to live of the hash is the longest of them.
local lock, latch, prefix = KEYS[1], KEYS[2], KEYS[3]
local lease, owner, held = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3])
local call = redis.call

local timeout = prefix .. ':' .. owner .. ':rwlock_timeout:'
local found = call('exists', lock, latch)
if found == 0 then
  if held > 0 then return -3 end
  call('hset', lock, 'mode', 'read', owner, '1')
  call('set', timeout .. '1', '1', 'px', lease)
  call('pexpire', lock, lease)
  return ''
end
if found == 2 then return -4 end
local count, ttl = tonumber(call('hget', lock, owner) or 0), call('pttl', lock)
if ttl == -2 then return -4 end
if count == 0 then
  if held > 0 then return -3 end
  if call('hget', lock, 'mode') ~= 'read' and call('hexists', lock, owner .. ':write') == 0 then
    return ttl
  end
end
if count ~= held + 1 then
  count = call('hincrby', lock, owner, '1')
  call('set', timeout .. count, '1', 'px', lease)
elseif call('pttl', timeout .. count) < lease then
  call('set', timeout .. count, '1', 'px', lease)
end
if ttl < lease then call('pexpire', lock, lease) end
return ''
