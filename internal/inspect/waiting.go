package inspect

import (
	"cmp"
	"slices"

	"github.com/lockredis/lockredis/internal/lockkeys"
)

// Asker is an owner that waits for a lock, or a subscribed client whose owner is unknown.
type Asker struct {
	Owner string // "" for a client
	Kind  Kind   // the lock's, without the way in which it is held
	Mode  Kind   // Read or Write for an owner that waits for a read-write lock, "" for others
	Since int64  // when the owner was refused first, or the subscription began, Unix ms; 0: unknown
	Asks  int64  // how often the owner was refused; 0: unknown
	By    Origin // the client that asked last, or that is subscribed

	// Waits is false for an owner that will ask again before it waits: it has asked once, or not since
	// its client subscribed.
	Waits bool
	// Ends is when the owner counts no longer unless it asks again, in Unix ms; 0: never. Owners without a
	// subscription poll.
	Ends int64

	number int64 // see Ask
}

// polling is how long an owner that polls may take for its next ask, in ms. Redisson's spin locks
// take 128 ms at most by default.
const polling = 1000

// Waiting returns the owners that wait for the lock in a database, and the subscribed clients whose
// owner is unknown: first the owners in a fair lock's queue, then the other owners in the order of
// their first asks, then the clients.
//
// An owner that was refused waits while its client is subscribed to the release. Without a subscription it
// waits while it polls, and its last connection is open. An owner whose time is over says nothing, and is
// not told apart while its client is subscribed: see Probe.
func (v View) Waiting(db int, name string) []Asker {
	w := waiting{View: v, db: db, name: name, known: v.state.Asks(db, name), ears: v.listeners()}
	locks := v.Named(db, name)
	w.index(locks)
	for i := range locks {
		w.addQueue(&locks[i])
	}
	owners := len(w.askers)
	for i := range w.known.List {
		w.add(&w.known.List[i], locks)
	}
	slices.SortStableFunc(w.askers[owners:], func(a, b Asker) int { return cmp.Compare(a.number, b.number) })
	for i := range locks {
		w.addClients(&locks[i])
	}
	return w.askers
}

// waiting collects the Askers of a lock.
type waiting struct {
	View
	db     int
	name   string
	known  Asks
	ears   listeners
	asks   map[string]*Ask // those of known, by owner
	held   map[hold]bool   // what the lock's owners hold
	heard  map[string]bool // lock clients with a known subscriber
	spare  bool            // a subscriber in the database may belong to any lock client
	queued map[string]bool // owners in the queue
	askers []Asker
}

// hold is an owner, and the mode in which it holds the lock.
type hold struct {
	owner string
	mode  Kind
}

// index sets asks, held, heard and spare, which are looked up for each owner: a thousand owners may
// wait.
func (w *waiting) index(locks []Lock) {
	w.asks, w.held, w.heard = map[string]*Ask{}, map[hold]bool{}, map[string]bool{}
	for i := range w.known.List {
		w.asks[w.known.List[i].Owner] = &w.known.List[i]
	}
	for i := range locks {
		for _, h := range locks[i].Holders {
			w.held[hold{h.Owner, h.Mode}] = true
		}
	}
	for _, channel := range []string{lockkeys.Channel(w.name), lockkeys.RWChannel(w.name)} {
		a := w.ears[channel]
		if a == nil {
			continue
		}
		for _, in := range a.clients {
			if client, known := w.known.Ears[in.By.ID]; known {
				w.heard[client] = true
			} else if in.db == w.db {
				w.spare = true
			}
		}
	}
}

// addQueue adds the owners in a fair lock's queue. An owner that no script has asked for waits, too.
func (w *waiting) addQueue(l *Lock) {
	for _, in := range l.Queue {
		if w.queued == nil {
			w.queued = map[string]bool{}
		}
		w.queued[in.Owner] = true
		a := Asker{Owner: in.Owner, Kind: Fair, Since: in.Since, By: in.By, Waits: true}
		if ask := w.asks[in.Owner]; ask != nil {
			var present bool
			if a, present = w.asker(ask); !present {
				continue
			}
			a.Kind = Fair
		}
		w.askers = append(w.askers, a)
	}
}

// add adds an owner that was refused and is in no queue.
func (w *waiting) add(ask *Ask, locks []Lock) {
	if ask.Owner == "" || w.queued[ask.Owner] || w.holds(ask) {
		return
	}
	a, present := w.asker(ask)
	if !present {
		return
	}
	for i := range locks {
		family := locks[i].Kind.Family()
		if a.Kind != Plain || len(locks[i].Holders) == 0 || family == string(PermitSemaphore) {
			continue
		}
		if a.Kind = Kind(family); a.Kind == ReadWrite && a.Mode == "" { // rlock's script tells readers only
			a.Mode = Write
		}
	}
	w.askers = append(w.askers, a)
}

// holds reports whether an owner has what it asked for, in a way that no script's reply has told.
func (w *waiting) holds(ask *Ask) bool {
	return w.held[hold{ask.Owner, ""}] || w.held[hold{ask.Owner, ask.Mode}]
}

// asker returns an owner that was refused. present is false if it waits no longer.
func (w *waiting) asker(ask *Ask) (a Asker, present bool) {
	a = Asker{
		Owner: ask.Owner, Kind: ask.Kind, Mode: ask.Mode, Since: ask.Since, Asks: ask.Count, By: ask.By,
		number: ask.First,
	}
	a.Waits = ask.Count > 1
	listens := w.listens(ask)
	if listens {
		a.Waits = a.Waits && ask.Heard
	}
	if !listens || ask.Count == 1 {
		a.Ends = ask.Last + polling + 1
	}
	present = !ask.Gone && (listens || w.state.Connected(ask.By.ID)) &&
		(a.Ends == 0 || w.state.Space().Now() < a.Ends)
	return a, present
}

// listens reports whether a client of the owner's is subscribed to the release. A client that may belong to
// several lock clients counts for each.
func (w *waiting) listens(ask *Ask) bool {
	listens := w.ears[lockkeys.FairChannel(w.name, ask.Owner)] != nil
	if listens || ask.Kind == Fair {
		return listens
	}
	return w.spare || w.heard[ask.ID()]
}

// addClients adds the subscribers of a lock whose owner is unknown. Each lock client has a subscriber
// of its own.
func (w *waiting) addClients(l *Lock) {
	unlinked := map[string]bool{} // the lock clients whose subscriber is not known
	linked := map[string]bool{}
	for _, client := range w.known.Ears {
		linked[client] = true
	}
	for i := range w.known.List {
		if ask := &w.known.List[i]; !ask.Gone && ask.Owner != "" && !linked[ask.ID()] {
			unlinked[ask.ID()] = true
		}
	}
	free := len(unlinked)
	for _, in := range l.Listeners {
		_, has := w.known.Ears[in.By.ID]
		switch {
		case l.Kind == PermitSemaphore || l.Kind == Semaphore || l.Kind == CountDownLatch:
		case has:
			continue
		case free > 0:
			free--
			continue
		}
		w.askers = append(w.askers, Asker{
			Owner: in.Owner, Kind: Kind(l.Kind.Family()), Since: in.Since, By: in.By, Waits: true,
		})
	}
}

// Probe is a probe of a lock: it has the threads that wait ask again. Its methods are called inside the engine.
//
// The message is that of a release. On "1" a Redisson wakes all its threads that sleep. But a thread that has asked
// and comes back may take the wake-up of one that still sleeps: so Again wakes those. rlock wakes all readers, but of
// the other goroutines that wait on a channel only the one that waits longest, also on several messages.
type Probe struct {
	db    int
	name  string
	since int64 // the number of the last ask before the probe
	end   func()
}

// Probe begins a probe: it wakes the threads that wait.
func (v View) Probe(db int, name string) *Probe {
	p := &Probe{db: db, name: name}
	waiting := v.Waiting(db, name)
	p.since, p.end = v.state.BeginProbe(db, name)
	p.wake(v, waiting)
	v.state.Publish(lockkeys.SemaphoreChannel(name), "1000000")
	return p
}

// wake publishes the messages that wake threads which wait for a lock.
func (p *Probe) wake(v View, waiting []Asker) {
	for _, a := range waiting {
		if a.Owner != "" {
			v.state.Publish(lockkeys.FairChannel(p.name, a.Owner), "1")
		}
	}
	v.state.Publish(lockkeys.Channel(p.name), "1")
	v.state.Publish(lockkeys.RWChannel(p.name), "1")
}

// Again wakes the threads that have not asked yet, if there are any.
func (p *Probe) Again(v View) {
	asked := p.asked(v.state.Asks(p.db, p.name).List)
	waiting := slices.DeleteFunc(v.Waiting(p.db, p.name), func(a Asker) bool { return a.Owner == "" || asked[a.Owner] })
	if len(waiting) > 0 {
		p.wake(v, waiting)
	}
}

// asked returns the owners that have asked since the probe began.
func (p *Probe) asked(asks []Ask) map[string]bool {
	asked := map[string]bool{}
	for i := range asks {
		if asks[i].Number > p.since {
			asked[asks[i].Owner] = true
		}
	}
	return asked
}

// End ends the probe, and returns the owners that have asked and were refused since it began. Of a semaphore it
// returns the clients that have asked.
func (p *Probe) End(v View) (askers []Asker) {
	known := v.state.Asks(p.db, p.name)
	p.end()
	asked := p.asked(known.List)
	for _, a := range v.Waiting(p.db, p.name) {
		if a.Owner != "" && asked[a.Owner] {
			askers = append(askers, a)
		}
	}
	for _, k := range known.List {
		if k.Owner == "" && k.Number > p.since {
			askers = append(askers, Asker{
				Kind: Semaphore, Since: k.Since, Asks: k.Count, By: k.By, Waits: true, number: k.First,
			})
		}
	}
	return askers
}

// sleepers returns how many messages wake all threads of all lock clients, if each message wakes one
// thread of each lock client. It is the largest number of a lock client's owners that asked for the
// lock, at least 1.
func (v View) sleepers(db int, name string) (most int) {
	owners := map[string]int{}
	known := v.state.Asks(db, name)
	for i := range known.List {
		if a := &known.List[i]; !a.Gone && a.Owner != "" {
			owners[a.ID()]++
			most = max(most, owners[a.ID()])
		}
	}
	return min(max(most, 1), mostMessages)
}

// mostMessages bounds sleepers. In Redisson, a message that wakes no thread makes a later one ask in vain.
const mostMessages = 256
