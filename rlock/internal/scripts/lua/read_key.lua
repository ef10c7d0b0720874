-- read_key runs one command on one key, so that a master answers it.
-- KEYS: key
-- ARGV: command arg...
-- replies: the command's reply
local key = KEYS[1]
local command = ARGV[1]

return redis.call(command, key, unpack(ARGV, 2))
