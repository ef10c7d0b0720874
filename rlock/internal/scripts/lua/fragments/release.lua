-- release_reply returns 1 when the release ends the owner's last hold, 0 when holds
-- remain, and -1 when there is nothing to release. An undo releases only the hold
-- that raised the count from held.
local function release_reply(count, held, undo)
  if count == 0 or undo == '1' and count ~= held + 1 then return -1 end
  return count == 1 and 1 or 0
end
