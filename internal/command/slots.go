package command

import (
	"fmt"
	"strings"

	"github.com/lockredis/lockredis/internal/cluster"
	"github.com/lockredis/lockredis/resp"
)

// NewNodeID returns the id of a new node, from random numbers.
func NewNodeID(random func() uint64) string {
	var id strings.Builder
	for id.Len() < 40 {
		fmt.Fprintf(&id, "%016x", random())
	}
	return id.String()[:40]
}

// ErrClusterDown and ErrSlotUnbound refuse a command that has keys.
var (
	ErrClusterDown = resp.Error("CLUSTERDOWN The cluster is down")
	ErrSlotUnbound = resp.Error("CLUSTERDOWN Hash slot not served")
)

// RefuseWaits ends the blocking commands that wait for keys of a slot without an owner. If
// the cluster is down, it ends all that wait for keys.
func RefuseWaits(env *Env) {
	down := !env.Cluster.OK(env.Config.Cluster.FullCoverage)
	env.Clients.Each(func(s *Session) bool {
		switch p := s.Parked; {
		case p == nil || len(p.Keys) == 0:
		case down:
			env.Parking.Unpark(s, ErrClusterDown)
		case env.Cluster.Owner(cluster.Slot([]byte(p.Keys[0]))) == nil: // all its keys are in one slot
			env.Parking.Unpark(s, ErrSlotUnbound)
		}
		return true
	})
}
