-- A change of the lease with a place counts once, and not after a change with a higher
-- place or after the claim's release. The latch of the claim keeps the place of the last
-- change, as "lease:" and the place. A number in the latch says that the claim is over.
-- Place "0", an ordinary renewal, has no order. A call without a latch has none either.

-- overtaken returns the reply to a change that must not run: 1 when a later one or this
-- one has run, 0 when the claim is over. It returns nil when the change may run.
local function overtaken()
  local value = place ~= '0' and latch and redis.call('get', latch)
  if not value or value == 'sealed' then return nil end
  local last = string.match(value, '^lease:(%d+)$')
  if not last then return 0 end
  if tonumber(last) >= tonumber(place) then return 1 end
end

-- done records that the change has run. DEL comes first, because at maxmemory a script
-- may only SET after a command that needs no memory.
local function done()
  if place == '0' or not latch then return end
  redis.call('del', latch)
  redis.call('set', latch, 'lease:' .. place, 'px', life)
end
