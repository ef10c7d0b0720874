-- permit_update starts the leases of the permits again, all or none.
-- KEYS: counter leases channel latch
-- ARGV: publish no_lease lease shorten place life id...
-- replies: 1 done; 0 one of the permits is not held
-- replies: 2 nothing done: a later change of this client has run
--
-- no_lease is the score of a permit whose lease has no end. A lease of "0" ms has none.
-- Only shorten "1" makes a lease shorter. See plain_renew about place and latch.
local counter, leases, channel, latch = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local publish, no_lease, lease, shorten = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local place, life = ARGV[5], ARGV[6]
local call = redis.call
-- include: permits
-- include: lease_order

sweep() -- comes first: at maxmemory the script may write after it
for i = 7, #ARGV do
  if not call('zscore', leases, ARGV[i]) then return 0 end
end
local earlier = overtaken()
if earlier then return earlier end
local deadline = tonumber(lease == '0' and no_lease or now + lease)
for i = 7, #ARGV do
  if shorten == '1' or tonumber(call('zscore', leases, ARGV[i])) < deadline then
    call('zadd', leases, deadline, ARGV[i])
  end
end
done()
return 1
