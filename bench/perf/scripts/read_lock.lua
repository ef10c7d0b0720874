-- Locks for reading: KEYS[1] is a hash with "mode" and the owners' hold counts,
-- KEYS[2] what the keys of the owner's holds begin with. ARGV[1] is the lease in ms,
-- ARGV[2] the owner, ARGV[3] the owner as a writer.
local mode = redis.call('hget', KEYS[1], 'mode')
if not mode then
  redis.call('hset', KEYS[1], 'mode', 'read')
  redis.call('hset', KEYS[1], ARGV[2], 1)
  redis.call('set', KEYS[2] .. ':1', 1)
  redis.call('pexpire', KEYS[2] .. ':1', ARGV[1])
  redis.call('pexpire', KEYS[1], ARGV[1])
  return nil
end
if mode == 'read' or redis.call('hexists', KEYS[1], ARGV[3]) == 1 then
  local hold = KEYS[2] .. ':' .. redis.call('hincrby', KEYS[1], ARGV[2], 1)
  redis.call('set', hold, 1)
  redis.call('pexpire', hold, ARGV[1])
  redis.call('pexpire', KEYS[1], math.max(redis.call('pttl', KEYS[1]), tonumber(ARGV[1])))
  return nil
end
return redis.call('pttl', KEYS[1])
