-- plain_release frees the lock if the owner holds it.
-- KEYS: lock channel latch
-- ARGV: owner [publish life]
-- replies: 1 the lock is free; -1 the owner does not hold it
--
-- In both cases the claim is then over. An empty publish sends no message. Each argument
-- that a call leaves out saves the server 0.1 us.
local lock, channel, latch = KEYS[1], KEYS[2], KEYS[3]
local owner, publish, life = ARGV[1], ARGV[2] or 'publish', ARGV[3] or '300000'
local call = redis.call

local reply = call('hexists', lock, owner) == 1 and 1 or -1
local set = redis.pcall('set', latch, reply, 'px', life, 'nx')
if not (set and set.ok) then -- the usual case does not pay for the function
-- include: latch
  local earlier = earlier_reply(latch, reply, life)
  if earlier then return earlier end
end
if reply == 1 then
  call('del', lock)
  if publish ~= '' then call(publish, channel, '0') end
end
return reply
