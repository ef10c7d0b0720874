package server

import (
	"strings"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

// The commands that change the server's role, and MODULE. A server has no modules, so most answers of
// the latter are Redis's errors.
var (
	errFailoverCluster = resp.Error("ERR FAILOVER not allowed in cluster mode. Use CLUSTER FAILOVER command instead.")
	errFailoverTimeout = resp.Error("ERR FAILOVER timeout must be greater than 0")
	errReplicaCluster  = resp.Error("ERR REPLICAOF not allowed in cluster mode.")
	errFailing         = resp.Error("ERR REPLICAOF not allowed while failing over.")
	errMasterPort      = resp.Error("ERR Invalid master port")
	errReplicaIsOurs   = resp.Error("ERR Command is not valid when client is a replica.")
	alreadyFollows     = resp.Status("OK Already connected to specified master")
	errModuleLoad      = resp.Error("ERR Error loading the extension. Please check the server logs.")
	errModuleUnload    = resp.Error("ERR Error unloading module: no such module with that name")
)

// failover hands the role of the master over to a replica.
func failover(c *command.Ctx, args resp.Args) resp.Reply {
	if c.Cluster != nil {
		return errFailoverCluster
	}
	if len(args) == 2 && command.IsWord(args[1], "abort") {
		return c.Replicas.AbortFailover()
	}
	request, failure := parseFailover(args[1:])
	if failure.IsError() {
		return failure
	}
	return c.Replicas.Failover(request)
}

// parseFailover parses the options of FAILOVER. Each may be given once.
func parseFailover(options resp.Args) (request command.FailoverRequest, failure resp.Reply) {
	to := false
	for len(options) > 0 {
		used := 1
		switch {
		case command.IsWord(options[0], "timeout") && len(options) > 1 && request.Timeout == 0:
			n, ok := resp.ParseInt(options[1])
			switch {
			case !ok:
				return request, resp.ErrNotInt
			case n <= 0:
				return request, errFailoverTimeout
			}
			request.Timeout, used = n, 2
		case command.IsWord(options[0], "to") && len(options) > 2 && !to:
			port, ok := resp.ParseInt(options[2])
			if !ok {
				return request, resp.ErrNotInt
			}
			request.Host, request.Port, to, used = options.String(1), int(port), true, 3
		case command.IsWord(options[0], "force") && !request.Force:
			request.Force = true
		default:
			return request, resp.ErrSyntax
		}
		options = options[used:]
	}
	return request, resp.NoReply
}

// replicaof makes the server a replica of another one, or with NO ONE a master.
func replicaof(c *command.Ctx, args resp.Args) resp.Reply {
	if c.Cluster != nil {
		return errReplicaCluster
	}
	status := c.Replicas.Status()
	if status.Failover != "no-failover" {
		return errFailing
	}
	if command.IsWord(args[1], "no") && command.IsWord(args[2], "one") {
		return c.Replicas.Lead()
	}
	if c.Session.Follows() {
		return errReplicaIsOurs
	}
	port, ok := resp.ParseInt(args[2])
	if !ok || port < 0 || port > 65535 {
		return errMasterPort
	}
	if p := status.Primary; p != nil && strings.EqualFold(p.Host, args.String(1)) && p.Port == int(port) {
		return alreadyFollows
	}
	return c.Replicas.Follow(args.String(1), int(port))
}

// moduleList replies what HELLO has as modules.
func moduleList(c *command.Ctx, _ resp.Args) resp.Reply { return command.Modules(c) }

// moduleLoad is MODULE LOAD and LOADEX. No file is a module for lockredis.
func moduleLoad(c *command.Ctx, args resp.Args) resp.Reply {
	c.Server.Log("warning", "lockredis loads no modules: "+args.String(2))
	return errModuleLoad
}

func moduleUnload(*command.Ctx, resp.Args) resp.Reply { return errModuleUnload }
