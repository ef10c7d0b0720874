-- Begins the lease of lock.lua anew. ARGV[1] is the lease in ms, ARGV[2] the owner.
if redis.call('hexists', KEYS[1], ARGV[2]) == 0 then return 0 end
redis.call('pexpire', KEYS[1], ARGV[1])
return 1
