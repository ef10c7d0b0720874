package command

import "github.com/lockredis/lockredis/resp"

var errNoCluster = resp.Error("ERR This instance has cluster support disabled")

// notACluster refuses a command that only a cluster node accepts.
func notACluster(*Ctx, resp.Args) resp.Reply { return errNoCluster }
