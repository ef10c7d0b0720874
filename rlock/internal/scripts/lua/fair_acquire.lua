-- fair_acquire is plain_acquire for the first owner in the queue; others may queue.
-- KEYS: lock latch queue timeouts channel
-- ARGV: lease owner publish patience wait retry
-- replies: '' the claim is granted, by this run or an earlier one
-- replies: n >= -1 try again in n ms; -1 for no end
-- replies: -4 the claim is over: released, undone, or its waiter left
--
-- With wait "1" an owner that must wait is in the queue afterwards. patience is how long
-- the first waiter may take to acquire a free lock, in ms. If the lock is held, the reply is
-- the rest of the lease, at most half of patience: the release wakes only the first waiter,
-- which may be dead. If the lock is free, the reply is the time until the first waiter's
-- deadline, at most retry: that waiter may acquire the lock and die.
local lock, latch, queue, timeouts, channel = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local lease, owner, publish = ARGV[1], ARGV[2], ARGV[3]
local patience, wait, retry = tonumber(ARGV[4]), ARGV[5], tonumber(ARGV[6])
local call = redis.call
-- include: fair_queue

local found, ttl = call('exists', lock, latch), 0
if found == 2 then return -4 end
if found == 1 then
  local own = call('hexists', lock, owner) == 1
  ttl = call('pttl', lock)
  if own then
    if ttl < tonumber(lease) then call('pexpire', lock, lease) end
    return ''
  end
  if ttl == -2 then return -4 end
end

local first, deadline
if found == 0 then
  first, deadline = offer(owner)
else
  first = head(owner)
end
if found == 0 and (not first or first == owner) then
  if first then
    call('lpop', queue)
    call('zrem', timeouts, owner)
    for _, other in ipairs(call('zrange', timeouts, 0, -1)) do
      call('zincrby', timeouts, -patience, other)
    end
  end
  call('hset', lock, owner, '1')
  call('pexpire', lock, lease)
  return ''
end

if wait == '1' and not (first and call('zscore', timeouts, owner)) then
  local last = first and call('lindex', queue, -1)
  local turn = last and call('zscore', timeouts, last)
  turn = turn and tonumber(turn) or now() + math.max(0, ttl)
  call('zadd', timeouts, turn + patience, owner)
  call('rpush', queue, owner)
end
if found == 1 then return math.min(ttl, math.max(1, math.floor(patience / 2))) end
return math.min(retry, (deadline or math.huge) - now())
