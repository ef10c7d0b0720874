-- write_acquire raises the owner's write hold count from held to held+1.
-- KEYS: lock latch
-- ARGV: lease owner held
-- replies: '' the claim is granted, by this run or an earlier one
-- replies: n >= -1 other owners hold the lock; it ends in n ms, -1 for no end
-- replies: -3 the owner's earlier write holds are gone
-- replies: -4 the claim is over: released, undone, or its waiter left
-- replies: -5 the owner reads: it would wait for itself
--
-- The latch may be left out, see plain_acquire. Unlike Redisson, a further hold does not add
-- its lease to the rest of the present one: the lock has the longer one.
local lock, latch = KEYS[1], KEYS[2]
local lease, owner, held = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3])
local call = redis.call

local field = owner .. ':write'
local found = latch and call('exists', lock, latch) or call('exists', lock)
if found == 0 then
  if held > 0 then return -3 end
  call('hset', lock, 'mode', 'write', field, '1')
  call('pexpire', lock, lease)
  return ''
end
if found == 2 then return -4 end
local count, ttl = call('hget', lock, field), call('pttl', lock)
if not count then
  if ttl == -2 then return -4 end
  if held > 0 then return -3 end
  return call('hexists', lock, owner) == 1 and -5 or ttl
end
if tonumber(count) ~= held + 1 then call('hincrby', lock, field, '1') end
if ttl < lease then call('pexpire', lock, lease) end
return ''
