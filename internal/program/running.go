package program

import (
	"context"

	"github.com/lockredis/lockredis/internal/collector"
	"github.com/lockredis/lockredis/internal/config"
)

// running are nodes that have started, and what the process does for them.
type running struct {
	*nodes
	files
	stop chan struct{} // closed by end
}

// start starts the nodes of s.settings. The caller calls end.
func start(ctx context.Context, s starting) (*running, error) {
	set, log := s.set, s.log
	if err := fitClients(set, log); err != nil {
		return nil, err
	}
	servers := int64(max(set.Topology.Cluster, set.Topology.Primaries, 1)) // maxmemory is each one's
	limit := collector.NewLimit(servers * set.MaxMemory)
	set.OnChange(config.MemoryChange, func() error {
		limit.Set(servers * set.MaxMemory)
		return nil
	})
	notify, freed := collector.NewFreed()
	set.Freed = notify
	run := &running{stop: make(chan struct{})}
	set.Listening = func() { run.writePID(set, log) }
	nodes, err := startNodes(ctx, s)
	if err == nil {
		run.nodes = nodes
		if err = nodes.openDoors(set); err != nil {
			nodes.close()
		}
	}
	if err != nil {
		run.remove()
		return nil, err
	}
	go collector.GiveBack(run.stop, freed)
	go limit.Follow(run.stop)
	return run, nil
}

// end closes the nodes and removes the files.
func (r *running) end() {
	close(r.stop)
	r.close()
	r.remove()
}
