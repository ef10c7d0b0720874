-- write_release lowers the owner's write hold count by one and frees the lock at 0.
-- KEYS: lock channel latch
-- ARGV: owner held undo publish lease life
-- replies: 1 the owner's last write hold ended; 0 it still holds; -1 it is not held
--
-- With undo "1" it releases only what the claim acquired: a count of held+1. In every
-- case the claim is then over. If the owner also holds the read lock, the lock is then
-- held for reading. Unlike Redisson, that is published too, so that readers wake, and a
-- release that leaves a hold does not shorten its lease.
local lock, channel, latch = KEYS[1], KEYS[2], KEYS[3]
local owner, held, undo = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local publish, lease, life = ARGV[4], ARGV[5], ARGV[6]
local call = redis.call
-- include: latch
-- include: release

local field = owner .. ':write'
local count = tonumber(call('hget', lock, field) or 0)
local reply = release_reply(count, held, undo)
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
elseif reply == 0 then
  call('hincrby', lock, field, '-1')
  if undo ~= '1' and call('pttl', lock) < tonumber(lease) then call('pexpire', lock, lease) end
elseif undo ~= '1' and call('exists', lock) == 0 then
  call(publish, channel, '1')
end
return reply
