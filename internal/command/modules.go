package command

import (
	"github.com/lockredis/lockredis/resp"
)

// Modules returns the loaded modules: none in Redis.
func Modules(c *Ctx) resp.Reply {
	if c.Config.Valkey() {
		return valkeyModules
	}
	return resp.EmptyArray
}

// valkeyModules is the list of modules: Valkey's Lua is one.
var valkeyModules = resp.Array(resp.Map(
	resp.BulkString("name"), resp.BulkString("lua"), resp.BulkString("ver"), resp.Int(1),
	resp.BulkString("path"), resp.BulkString("lua"), resp.BulkString("args"), resp.EmptyArray,
))
