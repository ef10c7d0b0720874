-- timeout returns the key of the nth read hold of the owner name.
local function timeout(name, n) return prefix .. ':' .. name .. ':rwlock_timeout:' .. n end

-- rest returns the mode of the lock and the longest lease of its read holds.
local function rest()
  local mode, ms, fields = false, 0, call('hgetall', lock)
  for i = 1, #fields, 2 do
    if fields[i] == 'mode' then mode = fields[i + 1] end
    for n = 1, tonumber(fields[i + 1]) or 0 do
      ms = math.max(ms, call('pttl', timeout(fields[i], n)))
    end
  end
  return mode, ms
end
