-- head removes the owners whose deadline has passed. It returns the first remaining
-- owner, or false, and its deadline. Unlike Redisson, it publishes to a removed owner:
-- if that waiter is alive, it queues again. Without the message it would wait, because
-- wake-ups now go to others. me, which may be nil, gets no message.
local function head(me)
  while true do
    local first = redis.call('lindex', queue, 0)
    local deadline = first and redis.call('zscore', timeouts, first)
    if not deadline or tonumber(deadline) > now then return first, deadline end
    redis.call('lpop', queue)
    redis.call('zrem', timeouts, first)
    if first ~= me then redis.call(publish, channel .. ':' .. first, '0') end
  end
end

-- wake publishes to the first owner in the queue.
local function wake()
  local first = head()
  if first then redis.call(publish, channel .. ':' .. first, '0') end
end
