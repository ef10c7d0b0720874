-- rate, interval and keep are the limiter's configuration; rate is nil if there is
-- none. value and permits are the keys of the rate's type.
local rate, interval, kind, keep =
  unpack(redis.call('hmget', config, 'rate', 'interval', 'type', 'keepAliveTime'))
if rate and interval and kind then
  rate, interval = tonumber(rate), tonumber(interval)
else
  rate = nil
end
if kind == '1' then value, permits = client_value, client_permits end

-- keep_keys gives all keys of the limiter the same time to live.
local function keep_keys()
  if keep and tonumber(keep) > 0 then
    redis.call('pexpire', config, keep)
    redis.call('pexpire', value, keep)
    redis.call('pexpire', permits, keep)
  else
    local ttl = redis.call('pttl', config)
    if ttl > 0 then
      redis.call('pexpire', value, ttl)
      redis.call('pexpire', permits, ttl)
    end
  end
end
