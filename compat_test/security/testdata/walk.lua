-- Lists everything that a script can reach from its globals, in tables and
-- metatables, by name and type.
local seen, out = {}, {}
local function walk(path, value)
  out[#out + 1] = path .. ' ' .. type(value)
  local meta = getmetatable(value)
  if meta ~= nil and not (type(value) == 'string' and seen['a string']) then
    if type(value) == 'string' then seen['a string'] = true end
    walk(path .. ' metatable', meta)
  end
  if type(value) ~= 'table' or seen[value] then return end
  seen[value] = true
  local names, values = {}, {}
  for k, v in pairs(value) do
    local name = type(k) == 'string' and k or '[' .. type(k) .. ' ' .. tostring(k) .. ']'
    names[#names + 1], values[name] = name, v
  end
  table.sort(names)
  for _, name in ipairs(names) do walk(path .. '.' .. name, values[name]) end
end
walk('KEYS', KEYS)
walk('ARGV', ARGV)
walk('string', string)
walk('math', math)
walk('table', table)
walk('redis', redis)
walk('_G', _G)
walk('a string', '')
walk('a function', walk)
walk('a number', 1)
walk('nil', nil)
table.sort(out)
return table.concat(out, '\n')
