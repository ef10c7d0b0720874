-- now is the server's time in ms.
local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
