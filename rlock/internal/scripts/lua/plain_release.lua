-- plain_release lowers the owner's hold count by one and frees the lock at 0.
-- KEYS: lock channel latch
-- ARGV: owner [held undo publish lease life]
-- replies: 1 the lock is free; 0 the owner still holds it; -1 it is not held
--
-- With undo "1" it releases only what the claim acquired: a count of held+1. In every
-- case the claim is then over. An empty publish sends no message. A call with the owner
-- alone releases a claim whose owner the server does not count. Each argument that it leaves
-- out saves the server 0.1 us.
local lock, channel, latch = KEYS[1], KEYS[2], KEYS[3]
local owner, held, undo = ARGV[1], ARGV[2] or '0', ARGV[3] or '0'
local publish, lease, life = ARGV[4] or 'publish', ARGV[5] or '0', ARGV[6] or '300000'
local call = redis.call

-- The usual case comes first, without the functions that the others need.
local count = call('hget', lock, owner)
if count == '1' and held == '0' then
  local set = redis.pcall('set', latch, '1', 'px', life, 'nx')
  if set and set.ok then
    call('del', lock)
    if publish ~= '' then call(publish, channel, '0') end
    return 1
  end
end
-- include: latch
-- include: release

count = tonumber(count or 0)
local reply = release_reply(count, tonumber(held), undo)
local earlier = earlier_reply(latch, reply, life)
if earlier then return earlier end
if reply == 1 then
  call('del', lock)
  if publish ~= '' then call(publish, channel, '0') end
elseif reply == 0 then
  call('hincrby', lock, owner, '-1')
  if undo ~= '1' and call('pttl', lock) < tonumber(lease) then call('pexpire', lock, lease) end
end
return reply
