-- A change of the lease with a place counts once. It has no effect after a later change of
-- its client, or after the claim's release. A place is the client's name, a colon and the
-- number of the change in this client. So no clock orders the changes: the numbers order
-- those of one client, and their arrival orders those of several clients. The latch keeps
-- "lease" and the last place of each client. A number in the latch says that the claim is
-- over. Place "0", an ordinary renewal, has no order. A call without a latch has none either.
local client, number = string.match(place, '^(%x+):(%d+)$')
local places = ''

-- overtaken returns the reply to a change that must not run: 1 when it has run, 2 when a
-- later change of its client has run, 0 when the claim is over. It returns nil when the
-- change may run.
local function overtaken()
  local value = client and latch and redis.call('get', latch)
  if not value or value == 'sealed' then return nil end
  places = string.match(value, '^lease(.*)$')
  if not places then return 0 end
  local last = tonumber(string.match(places, ' ' .. client .. ':(%d+)') or 0)
  if last >= tonumber(number) then return last == tonumber(number) and 1 or 2 end
end

-- done records that the change has run. DEL comes first, because at maxmemory a script
-- may only SET after a command that needs no memory.
local function done()
  if not client or not latch then return end
  local others = string.gsub(places, ' ' .. client .. ':%d+', '')
  redis.call('del', latch)
  redis.call('set', latch, 'lease' .. others .. ' ' .. place, 'px', life)
end
