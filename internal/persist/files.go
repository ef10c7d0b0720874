package persist

import (
	"errors"
	"log/slog"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/rdb"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

// Engine is what Files needs of the engine.
type Engine interface {
	// Outside runs unit as the only one inside the engine, and returns when it has run.
	Outside(unit func())
	// Ending reports whether the server ends: no file is read or written any further.
	Ending() bool
	// Reading says whether a file is read. Until it has been read, other units run at SafePoint only.
	Reading(on bool)
	// SafePoint runs the units that wait, at the present time. Then the unit that reads a file has
	// its own time again.
	SafePoint()
	// Replay runs a line of a log on database db. ok is false if there is no such command.
	Replay(db int, line resp.Args) (ok bool)
	// Attend is called after Refuses has changed, and when Due may be earlier. Due may also be earlier
	// after env.Dirty has changed: the engine knows that.
	Attend()
}

// Observer is the store's observer while an RDB file is read: a key of the file is no event.
type Observer interface {
	store.Observer
	// Loaded reports that a key was read from the file.
	Loaded(db int, key string)
}

// Options are the dependencies of Files.
type Options struct {
	Engine Engine
	Env    *command.Env
	Log    *slog.Logger
	// Quiet hears of the keys of an RDB file.
	Quiet Observer
	// Goroutines counts the goroutines that write files. The engine waits for them when it closes.
	Goroutines *sync.WaitGroup
}

// Files reads the databases from files, and writes them into the RDB file. It is command.Saving.
// Open and SaveAtEnd are called outside the engine, the other methods inside.
type Files struct {
	// Place returns the place of the present data.
	Place func() Place

	engine     Engine
	env        *command.Env
	log        *slog.Logger
	quiet      Observer
	goroutines *sync.WaitGroup

	encoder rdb.Encoder
	load    *load             // nil: no file is read
	current *save             // in the background; nil: none
	copies  []*Copy           // for replicas, that have not ended; the oldest first
	queue   []*command.Parked // the clients of SAVE that wait for the next save
	wanted  bool              // BGSAVE inside EXEC asked for a save
	tried   int64             // when the last save began, Unix seconds
	stats   command.SaveStats
	replays bool                       // the append-only log is read
	logMark string                     // of the log whose data the databases have, see logFact; "": none
	opening bool                       // Open runs
	expired []KeyName                  // see Loaded
	loaded  Place                      // see Loaded
	ending  atomic.Pointer[chan error] // the result of SaveAtEnd; nil: no signal waits
}

// The replies, byte for byte as Redis 7.0.15 sends them.
var (
	errSave    = resp.Error("ERR") // Redis's whole text
	errLoading = resp.Error("LOADING Redis is loading the dataset in memory")
)

// retrySeconds is how long a save point waits after a save that failed.
const retrySeconds = 5

// New returns the files of an engine. None is read yet.
func New(opts Options) *Files {
	return &Files{
		Place:  func() (none Place) { return none },
		engine: opts.Engine, env: opts.Env, log: opts.Log, quiet: opts.Quiet, goroutines: opts.Goroutines,
		stats: command.SaveStats{LastSeconds: -1},
	}
}

// Stats returns the figures of INFO.
func (s *Files) Stats() command.SaveStats {
	stats := s.stats
	if l := s.load; l != nil {
		stats.Loading = &command.LoadStats{Begun: l.begun, Total: l.total, Read: l.read, Memory: l.memory}
	}
	if len(s.copies) > 0 {
		stats.Copying = s.copies[0].save.begun
	}
	if s.current != nil {
		stats.Running, stats.Begun = true, s.current.begun
		stats.InBackground = len(s.current.waiting) == 0
		stats.Keys, stats.KeysDone = s.current.keys, s.current.keysDone
	}
	return stats
}

// asked reports whether a client waits for a save.
func (s *Files) asked() bool {
	return len(s.queue) > 0 || s.current != nil && len(s.current.waiting) > 0
}

// Begin begins a save in the background. It returns false if one is under way.
func (s *Files) Begin() bool {
	if s.current != nil {
		return false
	}
	s.log.Info("Background saving started")
	s.start(nil)
	return true
}

// Schedule has the timer begin a save as soon as it can.
func (s *Files) Schedule() {
	s.wanted = true
	s.engine.Attend()
}

// Park has c's client wait for a save of the present data. If a save is under way, the
// save of the present data begins at its end.
func (s *Files) Park(c *command.Ctx) {
	p := &command.Parked{Session: c.Session, Cmd: c.Cmd, DB: c.DB.ID()}
	c.Parking.Park(p)
	if s.current != nil {
		s.queue = append(s.queue, p)
		return
	}
	s.start([]*command.Parked{p})
}

// start begins a save and starts the goroutine that writes it.
func (s *Files) start(waiting []*command.Parked) {
	s.env.Stats.Saves++
	s.tried = s.env.Space.Now() / 1000
	s.current = s.begin(command.FileParts{})
	s.current.waiting = waiting
	cfg := s.env.Config
	path, sum := cfg.Path(cfg.RDB.File), cfg.RDB.Checksum
	w := s.current
	s.goroutines.Go(func() { w.run(path, sum) })
}

// cancel ends the save under way, if there is one. Its file is not written.
func (s *Files) cancel() {
	if s.current != nil {
		s.current.cancelled = true
		s.current.snapshot.End()
	}
}

// finish ends a save with its result, and begins the next one if clients wait for it. A
// save that was replaced counts as one that succeeded, for the clients that wait for it.
func (s *Files) finish(w *save, err error) {
	w.snapshot.End()
	s.current = nil
	s.engine.Attend()
	if w.cancelled {
		s.stats.LastSeconds = (s.env.Space.Now() - w.begun) / 1000
		s.log.Info("The save was cancelled")
	} else {
		s.result(w, err, len(w.waiting) == 0)
	}
	reply := resp.OK
	if err != nil && !w.replaced {
		reply = errSave
	}
	s.answer(w.waiting, reply)
	if next := s.queue; len(next) > 0 && !errors.Is(err, errSaveAtEnd) {
		s.queue = nil
		s.start(next)
	}
}

// answer ends the wait of clients that have not left.
func (s *Files) answer(waiting []*command.Parked, reply resp.Reply) {
	for _, p := range waiting {
		if p.Session.Parked == p {
			s.env.Parking.Unpark(p.Session, reply)
		}
	}
}

// result records and logs how a save ended.
func (s *Files) result(w *save, err error, background bool) {
	env := s.env
	if background {
		s.stats.LastSeconds = (env.Space.Now() - w.begun) / 1000
		s.stats.Failed = err != nil
		s.engine.Attend()
	}
	if err != nil {
		s.log.Warn("Saving failed", "file", env.Config.Path(env.Config.RDB.File), "error", err)
		return
	}
	s.stats.Failed = false
	s.engine.Attend()
	env.Dirty -= w.dirty
	env.LastSave = env.Space.Now() / 1000
	s.log.Info("DB saved on disk")
}

// Flushed follows FLUSHALL. A save in the background is cancelled. With save points the file
// is written at once, so that a crash does not bring back the keys.
func (s *Files) Flushed() {
	if s.current != nil && len(s.current.waiting) == 0 {
		s.cancel()
	}
	if cfg := s.env.Config; len(cfg.RDB.Points) > 0 && cfg.HasFile() && !s.replays {
		_ = s.Now() // the log has the error
	}
}

// Now saves the data at once and holds the engine's lock meanwhile: at the end of the
// server, after FLUSHALL and for DEBUG RELOAD. It cancels a save under way. It fails while the
// engine is Ending.
func (s *Files) Now() error {
	if s.engine.Ending() {
		return errSaveAtEnd
	}
	s.cancel()
	cfg := s.env.Config
	file, err := rdb.Create(cfg.Path(cfg.RDB.File), cfg.RDB.Checksum)
	s.tried = s.env.Space.Now() / 1000
	w := s.begin(command.FileParts{})
	defer w.snapshot.End()
	for more := err == nil; more; {
		if s.engine.Ending() { // a second signal, or Close
			file.Abort()
			err = errSaveAtEnd
			break
		}
		more = w.step()
		file.Write(w.out)
		w.out = w.out[:0]
	}
	if err == nil {
		err = file.Commit()
	}
	if err == nil && s.current != nil {
		s.current.replaced = true
	}
	s.result(w, err, false)
	return err
}

// Last is Now for the end of the server. If it succeeds, the clients of SAVE have what they wait
// for, and no client's command runs any more: its reply would confirm a change that the file does
// not have.
func (s *Files) Last() error {
	err := s.Now()
	if err == nil {
		if s.current != nil {
			s.answer(s.current.waiting, resp.OK)
		}
		s.answer(s.queue, resp.OK)
		s.queue = nil
		s.env.Pausing.Pause(math.MaxInt64, false)
	}
	return err
}

// LastAsked is Last if a client waits for a save: in Redis, SAVE would have ended before.
func (s *Files) LastAsked() {
	if s.asked() {
		_ = s.Last() // the log has the error
	}
}

// Due returns when a save point or Schedule begins a save, in Unix ms; 0: at no time if
// nothing changes.
func (s *Files) Due() (at int64) {
	env := s.env
	switch {
	case s.current != nil:
		return 0
	case s.wanted:
		at = env.Space.Now()
	case env.Dirty == 0:
		return 0
	}
	for _, p := range env.Config.RDB.Points {
		if when := (env.LastSaved() + p.Seconds + 1) * 1000; env.Dirty >= p.Changes && (at == 0 || when < at) {
			at = when
		}
	}
	switch {
	case at == 0 || !env.Config.HasFile() || s.engine.Ending():
		return 0
	case s.stats.Failed:
		at = max(at, (s.tried+retrySeconds+1)*1000)
	}
	return at
}

// Fire begins the save of Schedule or of a save point.
func (s *Files) Fire(int64) (more bool) {
	if s.wanted {
		s.wanted = false
	} else {
		s.log.Info("A save point is reached. Saving...", "changes", s.env.Dirty,
			"since", time.Unix(s.env.LastSaved(), 0).UTC().Format(time.RFC3339))
	}
	s.Begin()
	return false
}

// Refuses reports whether write commands are refused, because a save in the background has
// failed (stop-writes-on-bgsave-error).
func (s *Files) Refuses() bool {
	cfg := s.env.Config
	return s.stats.Failed && cfg.RDB.StopWrites && len(cfg.RDB.Points) > 0
}
