package engine

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/journal"
	"github.com/lockredis/lockredis/luaexec"
	"github.com/lockredis/lockredis/resp"
)

// replicationDoor is the engine as replication.Replication sees it: replication.Engine.
type replicationDoor struct{ door }

// Apply runs a command of the primary s as a unit.
func (d replicationDoor) Apply(s *command.Session, args resp.Args) resp.Reply {
	e := d.Engine
	e.env.Space.NothingIsDue()
	defer e.env.Space.SetNow(e.env.Space.Now())
	c := d.ctx(s, args)
	if !e.unit.steered { // not direct: the place of a cluster's node may not change within a part of the stream
		e.journal.Unit(journal.UnitBegins)
		defer e.journal.Unit(journal.UnitEnds)
	}
	v, refusal := e.checks.fromKit(&c, args)
	return e.unit.run(&c, args, v, refusal)
}

// Leads has the record of locks take the keys of this server, which was a replica.
func (d replicationDoor) Leads() { d.record.Inherited() }

// Steer has do carry out a command that steers the stream of the primary s: MULTI, EXEC, SELECT, PING and
// REPLCONF. It is counted and shown as others are. What do applies belongs to its unit.
func (d replicationDoor) Steer(s *command.Session, args resp.Args, do func(c *command.Ctx) resp.Reply) resp.Reply {
	c := d.ctx(s, args)
	if c.Cmd == nil { // rename-command
		return do(&c)
	}
	if !d.unit.steered {
		d.journal.Unit(journal.UnitBegins)
		defer d.journal.Unit(journal.UnitEnds)
		d.unit.steered = true
		defer func() { d.unit.steered = false }()
	}
	reply := d.unit.call(&c, args, func(c *command.Ctx, _ resp.Args) resp.Reply { return do(c) })
	if d.attention&shown != 0 {
		d.unit.show(&c, args, admitted)
	}
	return reply
}

// ctx begins a command of the primary s.
func (d replicationDoor) ctx(s *command.Session, args resp.Args) command.Ctx {
	e := d.Engine
	e.current = s
	s.LastActive = e.env.Space.Now()
	c := e.Kit().ctx(s, args)
	s.LastCommand = c.Cmd
	return c
}

// misplaced reports whether the command is refused for the server's place among primaries and
// replicas. flags are those of its line.
func (k *checks) misplaced(c *command.Ctx, flags command.Flags) (refusal resp.Reply, is bool) {
	e := k.e
	follows, write := e.replicas.Follows(), flags.Has(command.Write)
	switch {
	case c.Session.Primary:
		return refusal, false
	case write && !follows && e.replicas.Lacks():
		return errNoReplicas, true
	case write && follows && e.env.Config.Replication.ReadOnly:
		return errReadOnly, true
	case !e.replicas.Stale():
		return refusal, false
	case c.From == command.FromScript:
		return errScriptStale, !flags.Has(command.Stale)
	case c.Cmd.Has(command.RunsQueue):
		return errPrimaryDown, !c.Session.Multi.Stale()
	}
	return errPrimaryDown, !flags.Has(command.Stale)
}

// loads reports whether the command is refused while the file of the primary comes, see
// command.FileLoad.
func (k *checks) loads(c *command.Ctx, flags command.Flags) (refusal resp.Reply, is bool) {
	switch k.e.replicas.Load() {
	case command.LoadAside:
		is = flags.Has(command.NoAsyncLoading)
	case command.LoadAlone:
		is = !loadable(c)
	}
	if is {
		refusal, _ = k.e.files.Loading()
	}
	return refusal, is
}

// stale reports whether a script may not begin at a replica without a link to its primary. A script
// without flags is refused here and not before, as in Redis.
func (r *scriptRun) stale(c *command.Ctx, flags luaexec.Flags) (refusal resp.Reply, is bool) {
	switch {
	case c.Session.Primary || !r.e.replicas.Stale():
		return refusal, false
	case !flags.HasShebang:
		return errPrimaryDown, true
	}
	return errScriptNoLink, !flags.AllowStale
}

// EndWaits ends the waits of all clients, and closes their connections: what they wait for would be
// taken from the data of this server's primary.
//
// Redis 7.0.15: disconnectAllBlockedClients in blocked.c.
func (d replicationDoor) EndWaits() {
	d.sessions.Each(func(s *command.Session) bool {
		if s.Parked != nil && !s.Parked.Looks {
			s.Move(command.Closing)
			d.parking.Unpark(s, errRoleChanged)
		}
		return true
	})
}
