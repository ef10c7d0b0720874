-- write_renew starts the writer's lease again.
-- KEYS: lock latch
-- ARGV: lease owner shorten place life
-- replies: 1 done; 0 the owner does not hold the write lock
-- replies: 2 nothing done: a later change of this client has run
--
-- Only shorten "1" makes a lease shorter, unless the writer also holds the read lock. See
-- plain_renew about place, latch and a lease of "0" ms.
local lock, latch = KEYS[1], KEYS[2]
local lease, owner, shorten, place, life = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local call = redis.call
-- include: lease_order

if call('hexists', lock, owner .. ':write') == 0 then return 0 end
if lease == '0' then return 1 end
local earlier = overtaken()
if earlier then return earlier end
if shorten == '1' and call('hlen', lock) == 2 or call('pttl', lock) < tonumber(lease) then
  call('pexpire', lock, lease)
end
done()
return 1
