-- Lists the locks of one database of a real Redis, as LOCK.LIST does: an array of rows, each an array of names
-- and values. It knows locks by the form of their keys. Who acquired a lock, and since when, is not there.
--
-- ARGV[1] is the number of the database, which the connection has selected.

local rows = {}
local at = {} -- rows by the channel of their release

local hex4 = ('%x'):rep(4)
local uuid = '^' .. hex4 .. hex4 .. '%-' .. hex4 .. '%-' .. hex4 .. '%-' .. hex4 .. '%-' .. hex4 .. hex4 .. hex4
local now = redis.call('time')
now = now[1] * 1000 + math.floor(now[2] / 1000)

-- An owner is a client's UUID and a thread's id, and in a transaction the transaction's id.
local function is_owner(text)
  return text:match(uuid .. ':%-?%d+$') or text:match(uuid .. ':%-?%d+:%x[%x%-]+$')
end

local function is_count(text) return text and text:match('^%-?%d+$') end

local function braced(name) return name:find('{', 1, true) and name or '{' .. name .. '}' end

local function unbraced(text) return text:match('^{([^{]*)}$') or text end

-- Returns the milliseconds until a key expires, -1 without a deadline or a key.
local function ttl(key) return math.max(-1, redis.call('pttl', key)) end

local function holder(owner, mode, holds, left)
  return {'owner', owner, 'mode', mode, 'holds', holds, 'ttl', left}
end

local function add(name, kind, channel, holders, queue)
  table.sort(holders, function(a, b) return a[2] .. a[4] < b[2] .. b[4] end)
  local row = {'name', name, 'db', ARGV[1], 'kind', kind, 'ttl', ttl(name), 'holders', holders, 'queue', queue}
  rows[#rows + 1] = row
  at[channel] = row
  return row
end

-- Returns the owners in a fair lock's queue: those of the list, then those that have a timeout only.
local function queue_of(name)
  local queue, seen = {}, {}
  for _, read in ipairs({{'list', 'lrange', 'redisson_lock_queue:'}, {'zset', 'zrange', 'redisson_lock_timeout:'}}) do
    local key = read[3] .. braced(name)
    if redis.call('type', key).ok == read[1] then
      for _, owner in ipairs(redis.call(read[2], key, 0, -1)) do
        if not seen[owner] then
          seen[owner] = true
          queue[#queue + 1] = {'owner', owner}
        end
      end
    end
  end
  return queue
end

-- Returns the milliseconds until the last hold of a reader ends, at most until the lock's key expires.
local function reader_left(name, owner, holds, left)
  local longest = -1
  for i = 1, holds do
    longest = math.max(longest, ttl(braced(name) .. ':' .. owner .. ':rwlock_timeout:' .. i))
  end
  return longest >= 0 and left >= 0 and math.min(longest, left) or left
end

-- Returns the holders and the kind of a lock in a hash: field owner, value hold count. nil: it is none.
local function read_holders(name, fields, left)
  local holders, kind = {}, fields.mode and 'read-write' or 'lock'
  if fields.mode and fields.mode ~= 'read' and fields.mode ~= 'write' then
    return nil
  end
  for field, value in pairs(fields) do
    if field ~= 'mode' then
      local owner, mode = field, fields.mode and 'read' or ''
      if fields.mode and field:sub(-6) == ':write' then
        owner, mode = field:sub(1, -7), 'write'
      end
      if not is_owner(owner) or not is_count(value) then
        return nil
      end
      local own = mode == 'read' and reader_left(name, owner, tonumber(value), left) or left
      holders[#holders + 1] = holder(owner, mode, tonumber(value), own)
    end
  end
  return #holders > 0 and holders or nil, kind
end

-- Returns the holders of a multi-lock over a group of values: field v is the owner o, v:o:lock_count and
-- v:o:expire_time are numbers. nil: it is none.
local function read_group(fields)
  local by, holders = {}, {}
  for field, owner in pairs(fields) do
    if not field:match(':lock_count$') and not field:match(':expire_time$') then
      local of = field .. ':' .. owner
      local count, ends = tonumber(fields[of .. ':lock_count']), tonumber(fields[of .. ':expire_time'])
      if not is_owner(owner) or not count or not ends then
        return nil
      end
      if count > 0 and ends > now then
        if not by[owner] then
          by[owner] = holder(owner, '', 0, 0)
          holders[#holders + 1] = by[owner]
        end
        by[owner][6] = math.max(by[owner][6], count)
        by[owner][8] = math.max(by[owner][8], ends - now)
      end
    end
  end
  return #holders > 0 and holders or nil
end

local function map(flat)
  local fields = {}
  for i = 1, #flat, 2 do
    fields[flat[i]] = flat[i + 1]
  end
  return fields
end

-- Reports whether some fields may be those of a lock. A large hash of data is not read as a whole.
local function looks_like_lock(sample)
  for field, value in pairs(map(sample)) do
    if field ~= 'mode' and not is_owner((field:gsub(':write$', ''))) and not is_owner(value)
        and not field:match(':lock_count$') and not field:match(':expire_time$') then
      return false
    end
  end
  return true
end

local function add_hash(name)
  if not looks_like_lock(redis.call('hscan', name, 0, 'count', 10)[2]) then
    return
  end
  local fields = map(redis.call('hgetall', name))
  local holders, kind = read_holders(name, fields, ttl(name))
  if not holders then
    holders, kind = read_group(fields), 'multi'
  end
  if not holders then
    return
  end
  local channel = (kind == 'read-write' and 'redisson_rwlock:' or 'redisson_lock__channel:') .. braced(name)
  local queue = queue_of(name)
  if kind == 'lock' and #queue > 0 then
    kind = 'fair'
  elseif kind == 'lock' and redis.call('exists', 'redisson_lock_token:' .. braced(name)) == 1 then
    kind = 'fenced'
  end
  add(name, kind, channel, holders, queue)
end

-- Adds a semaphore whose permits have ids, of 16 bytes. Its key is a number, the one of the permits is a zset.
local function add_permits(key)
  local name = unbraced(key:sub(1, -#':timeout' - 1))
  local holders = {}
  local permits = redis.call('zrange', key, 0, -1, 'withscores')
  for i = 1, #permits, 2 do
    local id, ends = permits[i], tonumber(permits[i + 1])
    if #id ~= 16 then
      return
    end
    if ends > now then
      id = id:gsub('.', function(byte) return ('%02x'):format(byte:byte()) end)
      holders[#holders + 1] = holder(id, '', 1, ends < 9e14 and ends - now or -1)
    end
  end
  if #holders > 0 and redis.call('type', name).ok == 'string' then
    add(name, 'permit-semaphore', 'redisson_sc:' .. braced(name), holders, {})
  end
end

local queued = {} -- names of fair locks

local function add_key(key)
  local kind = redis.call('type', key).ok
  local fair = key:match('^redisson_lock_queue:(.*)$') or key:match('^redisson_lock_timeout:(.*)$')
  if kind == 'hash' then
    add_hash(key)
  elseif fair and (kind == 'list' or kind == 'zset') then
    queued[unbraced(fair)] = true
  elseif kind == 'zset' and key:match('{.*:timeout$') then
    add_permits(key)
  end
end

-- SCAN may name a key twice.
local seen, cursor = {}, '0'
repeat
  local reply = redis.call('scan', cursor, 'count', 1000)
  cursor = reply[1]
  for _, key in ipairs(reply[2]) do
    if not seen[key] then
      seen[key] = true
      add_key(key)
    end
  end
until cursor == '0'

for name in pairs(queued) do
  local channel = 'redisson_lock__channel:' .. braced(name)
  local queue = at[channel] and {} or queue_of(name)
  if #queue > 0 then
    add(name, 'fair', channel, {}, queue)
  end
end

-- Returns the row that a channel tells the release of, and the owner in a queue whose channel it is. It makes
-- the row of what only subscribers wait for. nil: it is another channel.
local function row_of(channel)
  if at[channel] then
    return at[channel], ''
  end
  local kinds = {
    {'^redisson_rwlock:(.*)$', 'read-write'}, {'^redisson_sc:(.*)$', 'semaphore'},
    {'^redisson_countdownlatch__channel__(.*)$', 'count-down-latch'}, {'^redisson_lock__channel:(.*)$', 'lock'},
  }
  for _, kind in ipairs(kinds) do
    local name = channel:match(kind[1])
    if name and kind[2] == 'lock' then
      for i = 2, #name do
        local owner = name:sub(i + 1)
        if name:sub(i, i) == ':' and is_owner(owner) then
          name = name:sub(1, i - 1)
          local lock = 'redisson_lock__channel:' .. name
          return at[lock] or add(unbraced(name), 'fair', lock, {}, {}), owner
        end
      end
    end
    if name then
      return add(unbraced(name), kind[2], channel, {}, {}), ''
    end
  end
end

-- Adds a waiter for each subscriber. The owner in a queue is there already.
local function add_waiters(channel, subscribers)
  local row, owner = row_of(channel)
  local queue = row and row[12]
  for i = 1, owner ~= '' and #(queue or '') or 0 do
    if queue[i][2] == owner then
      return
    end
  end
  for _ = 1, row and subscribers or 0 do
    queue[#queue + 1] = {'owner', owner}
  end
end

for _, kind in ipairs({'', 'shard'}) do
  local channels = redis.pcall('pubsub', kind .. 'channels', 'redisson_*') -- before Redis 7 there are no shards
  if not channels.err and #channels > 0 then
    table.sort(channels)
    for _, channel in ipairs(channels) do
      add_waiters(channel, redis.call('pubsub', kind .. 'numsub', channel)[2])
    end
  end
end

table.sort(rows, function(a, b) return a[2] < b[2] or a[2] == b[2] and a[6] < b[6] end)
return rows
