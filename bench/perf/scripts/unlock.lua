-- Gives a hold of lock.lua back. KEYS[2] is the channel that is told.
-- ARGV[1] is the lease in ms, ARGV[2] the owner. Nil: not held; 0: held still; 1: free.
if redis.call('hexists', KEYS[1], ARGV[2]) == 0 then return nil end
if redis.call('hincrby', KEYS[1], ARGV[2], -1) > 0 then
  redis.call('pexpire', KEYS[1], ARGV[1])
  return 0
end
redis.call('del', KEYS[1])
redis.call('publish', KEYS[2], '0')
return 1
