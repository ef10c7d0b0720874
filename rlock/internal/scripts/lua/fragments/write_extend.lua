-- extend starts the writer's lease again. As in Redisson, that shortens a lease that
-- locking again has made longer. If the writer also holds the read lock, extend does
-- not shorten the lease.
local function extend(lock, lease)
  if redis.call('hlen', lock) == 2 or redis.call('pttl', lock) < tonumber(lease) then
    redis.call('pexpire', lock, lease)
  end
end
