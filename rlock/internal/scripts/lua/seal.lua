-- seal makes acquire scripts refuse a claim from now on. It keeps what was granted.
-- KEYS: latch
-- ARGV: life
-- replies: 1 done; 0 the latch existed
--
-- A release or an undo works on a sealed claim as before.
local latch = KEYS[1]
local life = ARGV[1]
local call = redis.call

if call('exists', latch) == 1 then return 0 end
call('del', latch) -- changes nothing, but at maxmemory a script may SET after it
call('set', latch, 'sealed', 'px', life)
return 1
