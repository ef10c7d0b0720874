-- include: now

-- give adds n to the free permits and publishes their number if it is positive.
local function give(n)
  local free = redis.call('incrby', counter, n)
  if free > 0 then redis.call(publish, channel, free) end
end

-- sweep frees the permits whose lease has ended.
local function sweep()
  local over = redis.call('zremrangebyscore', leases, 0, now)
  if over > 0 then give(over) end
end
