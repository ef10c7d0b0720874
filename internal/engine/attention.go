package engine

// lookers are the rooms that look at commands besides INFO's statistics.
type lookers uint8

const (
	byMonitors lookers = 1 << iota // a client of MONITOR
	byTracking                     // a client of CLIENT TRACKING
	byJournal                      // a reader of the journal
	byLatency                      // SLOWLOG or LATENCY asks for short commands
)

// refusers are what may refuse or delay a command that fits the table and the rights.
type refusers uint8

const (
	forFaults   refusers = 1 << iota // rules of a test
	forCluster                       // the node may not serve the keys
	forMemory                        // maxmemory
	forSave                          // a save has failed
	forReplicas                      // min-replicas-to-write
	forPause                         // CLIENT PAUSE
)

// hearers are the rooms that hear of changes of keys.
type hearers uint8

const (
	byReaders hearers = 1 << iota // of the journal
	byWatches                     // WATCH
	byCaches                      // CLIENT TRACKING
	byEvents                      // notify-keyspace-events
	byParked                      // clients that wait for a key
)

// attention is what commands must pay attention to. A command with all words at 0 skips the
// questions of their rooms.
type attention struct {
	looking  lookers
	refusing refusers
	hearing  hearers
}

// attend sets the words. A room calls it when its part has changed, and Check compares them.
func (e *Engine) attend() { e.attention = attended(e) }

// attended returns what the words must be now.
func attended(e *Engine) (a attention) {
	cfg := e.env.Config
	look := func(bit lookers, is bool) {
		if is {
			a.looking |= bit
		}
	}
	refuse := func(bit refusers, is bool) {
		if is {
			a.refusing |= bit
		}
	}
	hear := func(bit hearers, is bool) {
		if is {
			a.hearing |= bit
		}
	}
	look(byMonitors, e.monitors.any())
	look(byTracking, e.tracking.Active())
	look(byJournal, e.journal.isRead())
	look(byLatency, uint64(cfg.SlowerThan) < exactBelow || cfg.LatencyThreshold > 0)
	refuse(forFaults, e.faults != nil)
	refuse(forCluster, e.env.Cluster != nil)
	refuse(forMemory, cfg.MaxMemory > 0)
	refuse(forSave, e.files.Refuses())
	refuse(forReplicas, cfg.LacksReplicas())
	refuse(forPause, e.pausing.until != 0)
	hear(byReaders, e.journal.isRead())
	hear(byWatches, len(e.watches.index) > 0)
	hear(byCaches, e.tracking.Active())
	hear(byEvents, cfg.NotifyEvents != 0)
	hear(byParked, len(e.parking.queues) > 0)
	return a
}

// exactBelow is the least slowlog-log-slower-than, in µs, with which some commands of a script
// need not be measured.
const exactBelow = 1000
