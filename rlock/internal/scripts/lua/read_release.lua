-- read_release ends one of the owner's read holds and frees the lock after the last.
-- KEYS: lock channel latch prefix
-- ARGV: owner held undo publish lease life
-- replies: 1 the owner's last read hold ended; 0 it still holds; -1 it is not held
--
-- With undo "1" it releases only what the claim acquired: a count of held+1. In every
-- case the claim is then over. Unlike Redisson, the hold below keeps the longest of both
-- leases and, if it is no undo, the given lease. So a release does not shorten a lease
-- that the owner trusts. Also unlike Redisson, a writer's lease stays as it is, and a
-- release that leaves less than half of the time to live wakes the waiters: they sleep
-- until the end that they were told.
local lock, channel, latch, prefix = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local owner, held, undo = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local publish, lease, life = ARGV[4], tonumber(ARGV[5]), ARGV[6]
local call = redis.call
-- include: latch
-- include: release
-- include: readers

local count = tonumber(call('hget', lock, owner) or 0)
local reply = release_reply(count, held, undo)
local earlier = earlier_reply(latch, reply, life)
if earlier then return earlier end
if reply == -1 then
  if undo ~= '1' and call('exists', lock) == 0 then call(publish, channel, '0') end
  return -1
end

if reply == 1 then
  call('hdel', lock, owner)
  call('del', timeout(owner, 1))
else
  local below, ms = timeout(owner, count - 1), call('pttl', timeout(owner, count))
  if undo ~= '1' then ms = math.max(ms, lease) end
  call('hincrby', lock, owner, '-1')
  call('del', timeout(owner, count))
  if ms > 0 and ms > call('pttl', below) then call('set', below, '1', 'px', ms) end
end
local mode, ms = rest()
if mode == 'write' then return reply end
if ms > 0 then
  local old = call('pttl', lock)
  call('pexpire', lock, ms)
  if 2 * ms < old then call(publish, channel, '0') end
  return reply
end
call('del', lock)
call(publish, channel, '0')
if reply == 0 then call('set', latch, '1', 'px', life) end
return 1
