-- read_renew starts the lease of the owner's read hold again.
-- KEYS: lock latch prefix
-- ARGV: lease owner shorten place life
-- replies: 1 done; 0 the owner does not hold the read lock
-- replies: 2 nothing done: a later change of this client has run
--
-- Only shorten "1" makes the owner's lease shorter. The lock then ends with the longest
-- lease of its readers, unless the owner also writes. See plain_renew about place, latch and
-- a lease of "0" ms. Unlike Redisson, the lease of another reader stays as it is.
local lock, latch, prefix = KEYS[1], KEYS[2], KEYS[3]
local lease, owner, shorten = tonumber(ARGV[1]), ARGV[2], ARGV[3]
local place, life = ARGV[4], ARGV[5]
local call = redis.call
-- include: lease_order
-- include: readers

if call('hexists', lock, owner) == 0 then return 0 end
if lease == 0 then return 1 end
local earlier = overtaken()
if earlier then return earlier end
local key = timeout(owner, 1)
-- PEXPIRE comes first: at maxmemory it runs, and after it SET runs too.
if (shorten == '1' or call('pttl', key) < lease) and call('pexpire', key, lease) == 0 then
  call('set', key, '1', 'px', lease)
end
local left = call('pttl', lock)
if left < lease then
  call('pexpire', lock, lease)
elseif shorten == '1' then
  local mode, ms = rest()
  if mode == 'read' and ms < left then call('pexpire', lock, ms) end
end
done()
return 1
