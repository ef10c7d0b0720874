-- fair_release is plain_release; it also removes an owner that waits from the queue.
-- KEYS: lock channel latch queue timeouts
-- ARGV: owner publish life patience
-- replies: 1 the lock is free; -1 the owner does not hold it
--
-- In both cases the claim is then over. If the lock is then free, the first waiter is woken.
-- Unlike Redisson, that includes an owner that leaves the queue of a free lock.
local lock, channel, latch, queue, timeouts = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local owner, publish, life, patience = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local call = redis.call
-- include: latch
-- include: fair_queue

-- leave removes the owner from the queue and lowers the deadlines of the owners behind
-- it, by the time that the owner no longer takes.
local function leave()
  local behind = false
  for _, other in ipairs(call('lrange', queue, 0, -1)) do
    if other == owner then
      behind = true
    elseif behind then
      call('zincrby', timeouts, -patience, other)
    end
  end
  call('lrem', queue, 0, owner)
  call('zrem', timeouts, owner)
end

local reply = call('hexists', lock, owner) == 1 and 1 or -1
local earlier = earlier_reply(latch, reply, life)
if earlier then return earlier end
if reply == 1 then
  call('del', lock)
  wake()
else
  leave()
  if call('exists', lock) == 0 then wake() end
end
return reply
