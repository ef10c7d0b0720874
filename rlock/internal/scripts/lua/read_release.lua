-- read_release ends the owner's read hold and frees the lock after the last reader's.
-- KEYS: lock channel latch prefix
-- ARGV: owner publish life
-- replies: 1 the hold ended; -1 the owner does not hold the read lock
--
-- In both cases the claim is then over. Unlike Redisson, a writer's lease stays as it is, and
-- a release that leaves less than half of the time to live wakes the waiters: they sleep
-- until the end that they were told.
local lock, channel, latch, prefix = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local owner, publish, life = ARGV[1], ARGV[2], ARGV[3]
local call = redis.call
-- include: latch
-- include: readers

local reply = call('hexists', lock, owner) == 1 and 1 or -1
local earlier = earlier_reply(latch, reply, life)
if earlier then return earlier end
if reply == -1 then
  if call('exists', lock) == 0 then call(publish, channel, '0') end
  return -1
end

call('hdel', lock, owner)
call('del', timeout(owner, 1))
local mode, ms = rest()
if mode == 'write' then return 1 end
if ms > 0 then
  local old = call('pttl', lock)
  call('pexpire', lock, ms)
  if 2 * ms < old then call(publish, channel, '0') end
  return 1
end
call('del', lock)
call(publish, channel, '0')
return 1
