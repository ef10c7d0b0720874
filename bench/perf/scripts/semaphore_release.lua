-- Gives ARGV[1] permits back to the counter KEYS[1] and tells the channel KEYS[2].
local free = redis.call('incrby', KEYS[1], ARGV[1])
redis.call('publish', KEYS[2], free)
return 1
