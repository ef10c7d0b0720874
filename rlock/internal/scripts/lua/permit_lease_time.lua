-- permit_lease_time tells the rest of a permit's lease.
-- KEYS: counter leases channel
-- ARGV: publish no_lease id
-- replies: n > 0 the lease ends in n ms; -1 it has no end; 0 the permit is not held
local counter, leases, channel = KEYS[1], KEYS[2], KEYS[3]
local publish, no_lease, id = ARGV[1], ARGV[2], ARGV[3]
local call = redis.call
-- include: permits

sweep()
local deadline = call('zscore', leases, id)
if not deadline then return 0 end
if deadline == no_lease then return -1 end
return deadline - now
