-- write_locked tells whether any owner holds the write lock.
-- KEYS: lock
-- ARGV:
-- replies: 1 held; 0 not held
local lock = KEYS[1]

if redis.call('hget', lock, 'mode') == 'write' then return 1 end
return 0
