package engine

// attention is what commands must pay attention to. A command skips the questions of the rooms that
// have no bit.
type attention uint16

// Rooms that look at commands besides INFO's statistics, and rooms that hear of changes of keys.
const (
	byMonitors attention = 1 << iota // a client of MONITOR
	byTracking                       // a client of CLIENT TRACKING; looks and hears
	byJournal                        // a reader of the journal; looks and hears
	byLatency                        // SLOWLOG or LATENCY asks for short commands
	byWatches                        // WATCH
	byEvents                         // notify-keyspace-events
	byParked                         // clients that wait for a key
	byRecord                         // of who wrote which lock

	// What may refuse or delay a command that fits the table and the rights.

	forFaults   // rules of a test
	forCluster  // the node may not serve the keys
	forMemory   // maxmemory
	forSave     // a save has failed
	forReplicas // min-replicas-to-write
	forPause    // CLIENT PAUSE
)

// hearing are the bits of the rooms that hear of changes of keys.
const hearing = byTracking | byJournal | byWatches | byEvents | byParked | byRecord

// attend sets the bits. A room calls it when its part has changed, and Check compares them.
func (e *Engine) attend() { e.attention = attended(e) }

// attended returns what the bits must be now.
func attended(e *Engine) (a attention) {
	cfg := e.env.Config
	set := func(bit attention, is bool) {
		if is {
			a |= bit
		}
	}
	set(byMonitors, e.monitors.any())
	set(byTracking, e.tracking.Active())
	set(byJournal, e.journal.IsRead())
	set(byLatency, uint64(cfg.SlowerThan) < exactBelow || cfg.LatencyThreshold > 0)
	set(byWatches, len(e.watches.index) > 0)
	set(byEvents, cfg.NotifyEvents != 0)
	set(byParked, len(e.parking.queues) > 0)
	set(byRecord, e.record != nil)
	set(forFaults, e.faults != nil)
	set(forCluster, e.env.Cluster != nil)
	set(forMemory, cfg.MaxMemory > 0)
	set(forSave, e.files.Refuses())
	set(forReplicas, cfg.LacksReplicas())
	set(forPause, e.pausing.until != 0)
	return a
}

// exactBelow is the least slowlog-log-slower-than, in µs, with which some commands of a script
// need not be measured.
const exactBelow = 1000
