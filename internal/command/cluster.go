package command

import "github.com/lockredis/lockredis/resp"

var errNoCluster = resp.Error("ERR This instance has cluster support disabled")

func notACluster(*Ctx, resp.Args) resp.Reply { return errNoCluster }
