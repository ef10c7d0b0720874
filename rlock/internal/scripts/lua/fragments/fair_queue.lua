local stamp
-- now returns the server's time in ms. A lock without a queue does not need it.
local function now()
  if not stamp then
    local time = redis.call('time')
    stamp = time[1] * 1000 + math.floor(time[2] / 1000)
  end
  return stamp
end

-- head removes the owners whose deadline has passed. It returns the first remaining
-- owner, or false, its deadline, and whether it has removed any. Unlike Redisson, it
-- publishes to a removed owner: if that waiter is alive, it queues again. Without the
-- message it would wait, because wake-ups now go to others. me, which may be nil, gets no
-- message.
local function head(me)
  local removed = false
  while true do
    local first = redis.call('lindex', queue, 0)
    local deadline = first and redis.call('zscore', timeouts, first)
    if not deadline or tonumber(deadline) > now() then
      return first, tonumber(deadline or nil), removed
    end
    redis.call('lpop', queue)
    redis.call('zrem', timeouts, first)
    if first ~= me then redis.call(publish, channel .. ':' .. first, '0') end
    removed = true
  end
end

-- offer gives the first owner in the queue of a free lock patience ms to acquire it, unlike
-- Redisson. The deadline that it got when it queued is after the end of the lease that
-- it saw, and that lease may have been released early. offer publishes to this owner if it
-- may not know that the lock is free, or if woken is true. It returns what head returns.
-- At maxmemory the deadline may stay as it is.
local function offer(me, woken)
  local first, deadline, removed = head(me)
  if not first or first == me then return first, deadline end
  local last = now() + patience
  if deadline and deadline > last then
    redis.pcall('zadd', timeouts, last, first)
    deadline, woken = last, true
  end
  if woken or removed then redis.call(publish, channel .. ':' .. first, '0') end
  return first, deadline
end

-- wake publishes to the first owner in the queue of a lock that has become free.
local function wake() offer(nil, true) end
