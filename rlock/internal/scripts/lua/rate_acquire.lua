-- rate_acquire grants n permits if they are free.
-- KEYS: config value client_value permits client_permits latch
-- ARGV: n id
-- replies: '' granted, by this run or an earlier one
-- replies: m > 0 not granted; enough permits are free in m ms
-- replies: -1 the limiter has no rate; -2 n is more than the rate
-- replies: -4 the claim is over: undone or sealed
local config, value, client_value = KEYS[1], KEYS[2], KEYS[3]
local permits, client_permits, latch = KEYS[4], KEYS[5], KEYS[6]
local n, id = tonumber(ARGV[1]), ARGV[2]
local call = redis.call
-- include: rate
-- include: rate_sweep
-- include: rate_member

if call('exists', latch) == 1 then return -4 end
if not rate then return -1 end
if rate < n then return -2 end
if call('zscore', permits, member) then return '' end
local free = sweep()
if not free then
  free = rate
  call('set', value, rate)
end
local reply = ''
if free < n then
  reply = interval
  local missing = n - free
  local granted = call('zrange', permits, 0, missing - 1, 'withscores')
  for i = 1, #granted, 2 do
    local _, back = struct.unpack('Bc0I', granted[i])
    reply = math.max(granted[i + 1] + interval - now, 1)
    missing = missing - back
    if missing <= 0 then break end
  end
else
  call('zadd', permits, now, member)
  call('decrby', value, n)
end
keep_keys()
return reply
