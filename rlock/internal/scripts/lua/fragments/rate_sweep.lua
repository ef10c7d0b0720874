-- include: now

-- sweep frees the permits granted before the interval. It returns the number of free
-- permits, or false before the first acquisition. When the counter exceeds the rate,
-- sweep computes it again from the granted permits. That happens after a release, or
-- when Redisson's availablePermits has left the counter too high.
local function sweep()
  local free = redis.call('get', value)
  if not free then return false end
  local back = 0
  for _, member in ipairs(redis.call('zrangebyscore', permits, 0, now - interval)) do
    local _, n = struct.unpack('Bc0I', member)
    back = back + n
  end
  if back > 0 then redis.call('zremrangebyscore', permits, 0, now - interval) end
  if free + back > rate then
    back = rate - free
    for _, member in ipairs(redis.call('zrange', permits, 0, -1)) do
      local _, n = struct.unpack('Bc0I', member)
      back = back - n
    end
  end
  if back ~= 0 then free = redis.call('incrby', value, back) end
  return tonumber(free)
end
