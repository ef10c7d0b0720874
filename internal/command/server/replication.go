package server

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

// The commands that change the server's role, and MODULE. A server has no modules, so most answers of
// the latter are Redis's errors.
var (
	errFailoverCluster  = resp.Error("ERR FAILOVER not allowed in cluster mode. Use CLUSTER FAILOVER command instead.")
	errFailoverNone     = resp.Error("ERR No failover in progress.")
	errFailoverTimeout  = resp.Error("ERR FAILOVER timeout must be greater than 0")
	errFailoverReplicas = resp.Error("ERR FAILOVER requires connected replicas.")
	errReplicaCluster   = resp.Error("ERR REPLICAOF not allowed in cluster mode.")
	errMasterPort       = resp.Error("ERR Invalid master port")
	errReplicaIsOurs    = resp.Error("ERR Command is not valid when client is a replica.")
	alreadyFollows      = resp.Status("OK Already connected to specified master")
	errModuleLoad       = resp.Error("ERR Error loading the extension. Please check the server logs.")
	errModuleUnload     = resp.Error("ERR Error unloading module: no such module with that name")
)

// failover hands the role of the master to a replica. There is none.
func failover(c *command.Ctx, args resp.Args) resp.Reply {
	if c.Cluster != nil {
		return errFailoverCluster
	}
	if len(args) == 2 && command.IsWord(args[1], "abort") {
		return errFailoverNone
	}
	if failure := parseFailover(args[1:]); failure.IsError() {
		return failure
	}
	return errFailoverReplicas
}

// parseFailover checks the options of FAILOVER. Each may be given once.
func parseFailover(options resp.Args) (failure resp.Reply) {
	var to, force, timeout bool
	for len(options) > 0 {
		used := 1
		switch {
		case command.IsWord(options[0], "timeout") && len(options) > 1 && !timeout:
			n, ok := resp.ParseInt(options[1])
			if !ok {
				return resp.ErrNotInt
			}
			if n <= 0 {
				return errFailoverTimeout
			}
			timeout, used = true, 2
		case command.IsWord(options[0], "to") && len(options) > 2 && !to:
			if _, ok := resp.ParseInt(options[2]); !ok {
				return resp.ErrNotInt
			}
			to, used = true, 3
		case command.IsWord(options[0], "force") && !force:
			force = true
		default:
			return resp.ErrSyntax
		}
		options = options[used:]
	}
	return resp.NoReply
}

// replicaof makes the server a replica of another one, or with NO ONE a master.
func replicaof(c *command.Ctx, args resp.Args) resp.Reply {
	if c.Cluster != nil {
		return errReplicaCluster
	}
	if command.IsWord(args[1], "no") && command.IsWord(args[2], "one") {
		c.Replicas.Lead()
		return resp.OK
	}
	if c.Session.Follows() {
		return errReplicaIsOurs
	}
	port, ok := resp.ParseInt(args[2])
	switch {
	case !ok:
		return resp.ErrNotInt
	case port < 0 || port > 65535:
		return errMasterPort
	}
	if p := c.Replicas.Status().Primary; p != nil && p.Host == args.String(1) && p.Port == int(port) {
		return alreadyFollows
	}
	c.Replicas.Follow(args.String(1), int(port))
	return resp.OK
}

// moduleList replies what HELLO has as modules.
func moduleList(c *command.Ctx, _ resp.Args) resp.Reply { return command.Modules(c) }

// moduleLoad is MODULE LOAD and LOADEX. No file is a module for lockredis.
func moduleLoad(c *command.Ctx, args resp.Args) resp.Reply {
	c.Server.Log("warning", "lockredis loads no modules: "+args.String(2))
	return errModuleLoad
}

func moduleUnload(*command.Ctx, resp.Args) resp.Reply { return errModuleUnload }
