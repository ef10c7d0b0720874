-- fair_release is plain_release; it also removes an owner that waits from the queue.
-- KEYS: lock channel latch queue timeouts
-- ARGV: owner held undo publish lease life patience
-- replies: 1 the lock is free; 0 the owner still holds it; -1 it is not held
--
-- With undo "1" it releases only what the claim acquired: a count of held+1. In every
-- case the claim is then over. If the lock is then free, the first waiter is woken.
-- Unlike Redisson, that includes an owner that leaves the queue of a free lock.
local lock, channel, latch, queue, timeouts = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local owner, held, undo = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local publish, lease, life = ARGV[4], ARGV[5], ARGV[6]
local patience = tonumber(ARGV[7])
local call = redis.call
-- include: latch
-- include: release
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

local count = tonumber(call('hget', lock, owner) or 0)
local reply = release_reply(count, held, undo)
local earlier = earlier_reply(latch, reply, life)
if earlier then return earlier end
if reply == 1 then
  call('del', lock)
  wake()
elseif reply == 0 then
  call('hincrby', lock, owner, '-1')
  if undo ~= '1' and call('pttl', lock) < tonumber(lease) then call('pexpire', lock, lease) end
elseif count == 0 then -- a holder is not in the queue
  leave()
  if call('exists', lock) == 0 then wake() end
end
return reply
