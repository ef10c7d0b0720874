package tracking

import (
	"slices"

	"github.com/lockredis/lockredis/internal/command"
)

// Engine is what a Tracker needs of the engine.
type Engine interface {
	// Current returns the client whose command runs, or whose parked command is served; nil if no
	// client's does.
	Current() *command.Session
	// RunsQueue reports whether s is in the middle of EXEC.
	RunsQueue(s *command.Session) bool
	// ScriptKeys returns the keys that the running script declares.
	ScriptKeys() [][]byte
	// Attend is called after Active has changed, and when Due may be earlier.
	Attend()
}

// Tracker is the room of client-side caching (CLIENT TRACKING). It is command.Tracking, and a source
// of work for the timer. Its methods are called inside the engine.
//
// While no client tracks, a command costs a comparison for each key that it changes, and
// one or two besides: the engine keeps in mind what Active says.
type Tracker struct {
	engine Engine
	env    *command.Env
	// active is true while a session is connected that tracks, or that has tracked and may
	// be in the table.
	active bool

	table    Table
	prefixes Prefixes
	clients  int // that track
	known    int // sessions with a TrackingState
	stale    int // items of sessions that have left
	overfull int // calls of shrink since the table has had more than tracking-table-max-keys

	waiting []invalidation // for the end of the running command
	buffer  []byte         // for encoding
}

// New returns a tracker of env's clients. None of them tracks.
func New(engine Engine, env *command.Env) *Tracker { return &Tracker{engine: engine, env: env} }

// Active reports whether a session is connected that tracks, or that has tracked.
func (t *Tracker) Active() bool { return t.active }

// Bytes estimates the memory of the keys and prefixes.
func (t *Tracker) Bytes() int64 { return t.table.Bytes() + t.prefixes.Bytes() }

// invalidationsEach is how many keys a command, or a batch of the timer, takes out of a table that
// is too large. The number grows each time until the table is small enough.
const invalidationsEach = 100

// Enable turns tracking on for s, or changes its mode.
func (t *Tracker) Enable(
	s *command.Session, mode command.TrackingMode, redirect int64, prefixes []string,
) {
	if s.Tracking == nil {
		s.Tracking = &command.TrackingState{}
		t.known++
		t.active = true
		t.engine.Attend()
	}
	state := s.Tracking
	if !s.Tracks() {
		t.clients++
	}
	mode |= state.Mode & command.Caching
	state.Mode, state.Redirect = mode, redirect
	if mode.Has(command.Broadcast) && len(prefixes) == 0 {
		prefixes = []string{""}
	}
	for _, name := range prefixes {
		t.prefixes.Add(name, s.ID)
		if at, found := slices.BinarySearch(state.Prefixes, name); !found {
			state.Prefixes = slices.Insert(state.Prefixes, at, name)
		}
	}
}

// Disable turns tracking off. The table keeps the keys that s has read. As in Redis, they
// are invalidated if s turns tracking on again. The rest of a transaction still redirects what
// waits, as in Redis.
func (t *Tracker) Disable(s *command.Session) {
	if !s.Tracks() {
		return
	}
	state := s.Tracking
	for _, name := range state.Prefixes {
		t.prefixes.Remove(name, s.ID)
	}
	t.clients--
	*state = command.TrackingState{Items: state.Items, Redirect: state.Redirect}
}

// Forget removes a session that has left. Its ids in the table are removed when they are
// more than half of the table, so that leaving is cheap.
func (t *Tracker) Forget(s *command.Session) {
	if s.Tracking == nil {
		return
	}
	t.Disable(s)
	t.stale += s.Tracking.Items
	s.Tracking = nil
	t.waiting = slices.DeleteFunc(t.waiting, func(i invalidation) bool { return i.reader == s })
	if t.known--; t.known == 0 {
		t.active = false
		t.engine.Attend()
		t.clear()
	} else if 2*t.stale > t.table.Items() {
		t.table.Forget(func(id int64) bool { return t.env.Clients.ByID(id) == nil })
		t.stale = 0
	}
}

// clear empties the table.
func (t *Tracker) clear() {
	t.table.Clear()
	t.stale, t.overfull = 0, 0
}

// Counts returns the figures of INFO.
func (t *Tracker) Counts() command.TrackingCounts {
	return command.TrackingCounts{
		Clients: t.clients, Keys: t.table.Len(), Items: t.table.Items(), Prefixes: t.prefixes.Len(),
	}
}

// Remember adds the keys of a command that reads to the table, if c's client tracks. A
// script that reads is remembered with all the keys that it declares. In Valkey it is
// remembered with the keys that it reads.
func (t *Tracker) Remember(c *command.Ctx, args [][]byte) {
	s := c.Session
	if !s.Tracks() || c.From == command.FromWait || runsScript(c.Cmd) {
		return
	}
	mode := s.Tracking.Mode
	caching := mode.Has(command.Caching)
	switch {
	case mode.Has(command.Broadcast), mode.Has(command.OptIn) && !caching,
		mode.Has(command.OptOut) && caching:
		return
	case c.From == command.FromScript && !t.env.Config.Valkey():
		for _, key := range t.engine.ScriptKeys() {
			t.rememberKey(s, key)
		}
		return
	}
	for _, at := range c.Cmd.RememberedKeys(args) {
		t.rememberKey(s, args[at.At])
	}
}

func (t *Tracker) rememberKey(s *command.Session, key []byte) {
	if t.table.Remember(key, s.ID) {
		s.Tracking.Items++
	}
}

// runsScript reports whether the command runs a script or a function. What the script
// reads counts, and not that it runs.
func runsScript(cmd *command.Command) bool {
	const declares = command.DeclaresInSource | command.DeclaresBySHA | command.DeclaresByName
	return cmd.Flags&declares != 0
}

// CommandEnds is called after the reply to a client's command: the invalidations that have
// waited for it are sent. CLIENT CACHING is used up, unless a transaction is open.
func (t *Tracker) CommandEnds(c *command.Ctx) {
	s := c.Session
	t.SendWaiting()
	if c.Cmd == nil || !c.Cmd.KeepsCaching {
		EndCaching(s)
	}
	t.shrink()
}

// EndCaching uses up CLIENT CACHING, unless a transaction is open.
func EndCaching(s *command.Session) {
	if s.Tracks() && s.Multi == nil {
		s.Tracking.Mode &^= command.Caching
	}
}

// Due returns the present time while the table is too large, in Unix ms.
func (t *Tracker) Due() int64 {
	if t.overfull > 0 {
		return t.env.Space.Now()
	}
	return 0
}

// Fire takes keys out of the table.
func (t *Tracker) Fire(int64) (more bool) {
	t.shrink()
	return t.overfull > 0
}

// shrink takes random keys out of a table with more than tracking-table-max-keys keys. Their
// readers get an invalidation, because later changes would go unnoticed.
//
// Differs from Redis: a client with NOLOOP gets it too, when it runs the command that makes
// the table too large.
func (t *Tracker) shrink() {
	most := t.env.Config.TrackingMaxKeys
	if most == 0 || int64(t.table.Len()) <= most {
		t.overfull = 0
		return
	}
	t.overfull++
	t.engine.Attend()
	for range invalidationsEach * t.overfull {
		if int64(t.table.Len()) <= most {
			t.overfull = 0
			return
		}
		key := t.table.Key(t.env.Rand.IntN(t.table.Len()))
		t.invalidate(key, nil)
	}
}
