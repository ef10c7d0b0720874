-- write_release ends the owner's write hold.
-- KEYS: lock channel latch
-- ARGV: owner publish life
-- replies: 1 the hold ended; -1 the owner does not hold the write lock
--
-- In both cases the claim is then over. If the owner also holds the read lock, the lock is
-- then held for reading. Unlike Redisson, that is published too, so that readers wake.
local lock, channel, latch = KEYS[1], KEYS[2], KEYS[3]
local owner, publish, life = ARGV[1], ARGV[2], ARGV[3]
local call = redis.call
-- include: latch

local field = owner .. ':write'
local reply = call('hexists', lock, field) == 1 and 1 or -1
local earlier = earlier_reply(latch, reply, life)
if earlier then return earlier end
if reply == 1 then
  call('hdel', lock, field)
  if call('hlen', lock) > 1 then
    call('hset', lock, 'mode', 'read')
  else
    call('del', lock)
  end
  call(publish, channel, '1')
elseif call('exists', lock) == 0 then
  call(publish, channel, '1')
end
return reply
