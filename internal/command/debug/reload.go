package debug

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

var (
	errReloadOption = resp.Error("ERR DEBUG RELOAD only supports the MERGE, NOFLUSH and NOSAVE options.")
	errReload       = resp.Error("ERR Error trying to load the RDB dump")
	errLoadaof      = resp.Error("ERR Error trying to load the AOF files, check server logs")
	errNoFile       = resp.Error("ERR the server has no RDB file: set dbfilename or dir")
)

// debugReload saves the data, empties the databases and reads the file. Other clients wait
// or get -LOADING meanwhile.
func debugReload(c *command.Ctx, args resp.Args) resp.Reply {
	saves, flushes, merge := true, true, false
	for _, option := range args[2:] {
		switch {
		case command.IsWord(option, "merge"):
			merge = true
		case command.IsWord(option, "noflush"):
			flushes = false
		case command.IsWord(option, "nosave"):
			saves = false
		default:
			return errReloadOption
		}
	}
	if refusal, loading := c.Saving.Loading(); loading {
		return refusal
	}
	if !c.Config.HasFile() {
		return errNoFile
	}
	if saves && c.Saving.Now() != nil {
		return command.ErrSaveFailed
	}
	if flushes {
		c.Tracking.Flushed()
		for _, db := range c.Space.Opened() {
			db.Flush()
		}
		c.Scripts.FlushLibraries()
	}
	if err := c.Saving.Load(merge); err != nil {
		c.Server.Log("warning", "DEBUG RELOAD: "+err.Error())
		return errReload
	}
	c.Server.Log("warning", "DB reloaded by DEBUG RELOAD")
	return resp.OK
}

// debugLoadaof does what DEBUG RELOAD does: the RDB file stands for the log, which is not
// written. Without appendonly it fails; a redis-server ends then.
func debugLoadaof(c *command.Ctx, args resp.Args) resp.Reply {
	if !c.Config.AOF.On {
		return errLoadaof
	}
	return debugReload(c, args)
}
