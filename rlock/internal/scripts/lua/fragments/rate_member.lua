-- member is the entry of one grant: a byte 16, the request id of 16 bytes, and the
-- number of permits as 4 bytes, little-endian (the format of Redisson 3.17).
local member = struct.pack('Bc0I', string.len(id), id, n)
