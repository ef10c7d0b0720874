package engine

import "github.com/lockredis/lockredis/internal/command"

// replicationDoor is the engine as replication.Replication sees it: replication.Engine.
type replicationDoor struct{ door }

// Caller returns the session of the command that runs, or ran last.
func (d replicationDoor) Caller() *command.Session { return d.current }
