-- A re-entrant lock: KEYS[1] is a hash of owner -> hold count with a deadline.
-- ARGV[1] is the lease in ms, ARGV[2] the owner. Nil: acquired; else the ms to wait.
if redis.call('exists', KEYS[1]) == 0 or redis.call('hexists', KEYS[1], ARGV[2]) == 1 then
  redis.call('hincrby', KEYS[1], ARGV[2], 1)
  redis.call('pexpire', KEYS[1], ARGV[1])
  return nil
end
return redis.call('pttl', KEYS[1])
