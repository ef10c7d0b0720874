-- earlier_reply writes the latch with the reply of this run and returns nil. If an
-- earlier run wrote the latch, earlier_reply returns that run's reply. The value
-- "sealed" is no reply.
--
-- At maxmemory the first SET fails. A script may write after a command that needs no
-- memory, such as DEL, even if that command changed nothing.
local function earlier_reply(latch, reply, life)
  local set = redis.pcall('set', latch, reply, 'px', life, 'nx')
  if set and set.ok then return nil end
  local earlier = tonumber(redis.call('get', latch) or '')
  if earlier then return earlier end
  redis.call('del', latch)
  redis.call('set', latch, reply, 'px', life)
end
