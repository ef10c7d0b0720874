package engine

import "github.com/lockredis/lockredis/internal/journal"

// attention is what commands must pay attention to. A command skips the questions of the rooms that
// have no bit.
type attention uint16

// Rooms that look at commands besides INFO's statistics, and rooms that hear of changes of keys.
const (
	byMonitors attention = 1 << iota // a client of MONITOR, while no file is read
	byTracking                       // a client of CLIENT TRACKING; looks and hears
	byJournal                        // a reader of the journal; looks and hears
	byWatches                        // WATCH
	byEvents                         // notify-keyspace-events
	byParked                         // clients that wait for a key
	byAwaiting                       // clients of LOCK.AWAIT
	byRecord                         // of who wrote which lock

	// What may refuse or delay a command that fits the table and the rights.

	forFaults  // rules that make requests go wrong, and what they delay
	forCluster // the node may not serve the keys
	forMemory  // maxmemory
	forSave    // a save has failed
	forPlace   // the server is a replica, or lacks replicas
	forPause   // CLIENT PAUSE
	forMigrate // keys that MIGRATE sends
)

// hearing are the bits of the rooms that hear of changes of keys.
const hearing = byTracking | byJournal | byWatches | byEvents | byParked | byAwaiting | byRecord

// attend sets the bits. It has the store and commands say what the readers want, and decides
// whether keys end by themselves. A room calls it when its part has changed, and Check compares the bits.
func (e *Engine) attend() {
	space, follows := e.env.Space, e.replicas.Follows()
	e.attention = attended(e)
	e.env.Named = e.journal.IsRead() || e.record != nil
	space.NameFields = e.journal.Wants(journal.FieldsExpired)
	// Keys of a replica end when its primary says so, unless a client of the replica has set the deadline.
	space.KeepExpired = e.pausing.until != 0 || follows
	space.OwnDeadlines = follows && !e.env.Config.Replication.ReadOnly && !e.reading
	if !follows {
		space.ForgetOwn()
	}
}

// attended returns what the bits must be now.
func attended(e *Engine) (a attention) {
	cfg := e.env.Config
	set := func(bit attention, is bool) {
		if is {
			a |= bit
		}
	}
	set(byMonitors, e.monitors.Any() && !e.reading) // as in Redis
	set(byTracking, e.tracking.Active())
	set(byJournal, e.journal.IsRead())
	set(byWatches, len(e.watches.index) > 0)
	set(byEvents, cfg.NotifyEvents != 0)
	set(byParked, len(e.parking.queues) > 0)
	set(byAwaiting, len(e.awaiting.parked) > 0)
	set(byRecord, e.record != nil)
	set(forFaults, e.faults != nil && e.faults.Busy())
	set(forCluster, e.env.Cluster != nil || cfg.Topology.Proxy > 0)
	set(forMemory, cfg.MaxMemory > 0 && !(e.replicas.Follows() && cfg.Replication.IgnoreMemory))
	set(forSave, e.files.Refuses())
	set(forPlace, e.replicas.Follows() || e.replicas.Lacks())
	set(forPause, e.pausing.until != 0)
	set(forMigrate, len(e.migrates.underway) > 0)
	return a
}
