-- read_locked tells whether any owner holds the read lock, also the writer.
-- KEYS: lock
-- ARGV:
-- replies: 1 held; 0 not held
local lock = KEYS[1]
local call = redis.call

local mode = call('hget', lock, 'mode')
if mode == 'read' or mode == 'write' and call('hlen', lock) > 2 then return 1 end
return 0
