package engine

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

// replicationDoor is the engine as replication.Replication sees it: replication.Engine.
type replicationDoor struct{ door }

// Apply runs a command of the primary s as a unit.
func (d replicationDoor) Apply(s *command.Session, args resp.Args) resp.Reply {
	e := d.Engine
	e.current = s
	s.LastActive = e.env.Space.Now()
	e.env.Space.NothingIsDue()
	defer e.env.Space.SetNow(e.env.Space.Now())
	return e.Kit().direct(s, args)
}

// misplaced reports whether the command is refused for the server's place among primaries and
// replicas. write says that it changes data.
func (k *checks) misplaced(c *command.Ctx, write bool) (refusal resp.Reply, is bool) {
	e := k.e
	follows := e.replicas.Follows()
	switch {
	case write && !follows && e.lacksReplicas():
		return errNoReplicas, true
	case write && follows && e.env.Config.Replication.ReadOnly:
		return errReadOnly, true
	case c.From == command.FromClient && !c.Cmd.Has(command.Stale) && e.replicas.Stale():
		return errPrimaryDown, true
	}
	return refusal, false
}

// lacksReplicas reports whether writes are refused because too few replicas listen.
func (e *Engine) lacksReplicas() bool {
	cfg := e.env.Config
	return cfg.RequiresReplicas() && int64(e.replicas.Good()) < cfg.MinReplicas
}
