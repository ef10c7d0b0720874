package engine

import (
	"errors"
	"math"
	"sync/atomic"
	"time"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/rdb"
	"github.com/lockredis/lockredis/resp"
)

// saving writes the databases into the RDB file, when a client or a save point asks for it. No
// append-only log is written.
//
// The file has the data of one moment: that of SAVE, BGSAVE or the save point. Redis forks
// a process for it. Go cannot fork, and a copy of a million keys under the lock would stop
// all clients for most of a second. Here a goroutine takes a store.Snapshot: it enters the
// engine again and again, encodes some keys, leaves and writes them. A command that is about
// to change a key which is still to come has the key encoded first. So no client waits longer
// than for a batch of keys, or for the largest value.
//
// Encoding is done inside the engine, compression too. Writing, the checksum and fsync are
// not.
type saving struct {
	e       *Engine
	encoder rdb.Encoder
	current *save             // in the background; nil: none
	queue   []*command.Parked // the clients of SAVE that wait for the next save
	wanted  bool              // BGSAVE inside EXEC asked for a save
	tried   int64             // when the last save began, Unix seconds
	stats   command.SaveStats
	reading bool                       // the append-only log is read
	logMark string                     // of the log whose data the databases have, see logFact; "": none
	ending  atomic.Pointer[chan error] // the result of SaveAtEnd; nil: no signal waits
}

// retrySeconds is how long a save point waits after a save that failed.
const retrySeconds = 5

func (s *saving) init(e *Engine) {
	s.e = e
	s.stats = command.SaveStats{LastSeconds: -1}
}

// Stats returns the figures of INFO.
func (s *saving) Stats() command.SaveStats {
	stats := s.stats
	if l := s.e.load; l != nil {
		stats.Loading = &command.LoadStats{Begun: l.begun, Total: l.total, Read: l.read, Memory: l.memory}
	}
	if s.current != nil {
		stats.Running, stats.Begun = true, s.current.begun
		stats.InBackground = len(s.current.waiting) == 0
		stats.Keys, stats.KeysDone = s.current.keys, s.current.keysDone
	}
	return stats
}

// asked reports whether a client waits for a save.
func (s *saving) asked() bool {
	return len(s.queue) > 0 || s.current != nil && len(s.current.waiting) > 0
}

// Begin begins a save in the background. It returns false if one is under way.
func (s *saving) Begin() bool {
	if s.current != nil {
		return false
	}
	s.e.log.Info("Background saving started")
	s.start(nil)
	return true
}

// Schedule has the timer begin a save as soon as it can.
func (s *saving) Schedule() { s.wanted = true }

// Park has c's client wait for a save of the present data. If a save is under way, the data
// is that of its end.
func (s *saving) Park(c *command.Ctx) {
	p := &command.Parked{Session: c.Session, Cmd: c.Cmd, DB: c.DB.ID()}
	c.Parking.Park(p)
	if s.current != nil {
		s.queue = append(s.queue, p)
		return
	}
	s.start([]*command.Parked{p})
}

// start begins a save and starts the goroutine that writes it.
func (s *saving) start(waiting []*command.Parked) {
	s.e.env.Stats.Saves++
	s.current = s.begin()
	s.current.waiting = waiting
	cfg := s.e.env.Config
	path, sum := cfg.Path(cfg.RDB.File), cfg.RDB.Checksum
	s.e.done.Add(1)
	go s.current.run(path, sum)
}

// ended reports whether nothing is saved any more. Interrupt may have ended a script halfway.
func (s *saving) ended() bool { return s.e.interrupted.Load() || s.e.closed.Load() }

// cancel ends the save under way, if there is one. Its file is not written.
func (s *saving) cancel() {
	if s.current != nil {
		s.current.cancelled = true
		s.current.snapshot.End()
	}
}

// finish ends a save with its result, and begins the next one if clients wait for it. A
// save that was replaced counts as one that succeeded, for the clients that wait for it.
func (s *saving) finish(w *save, err error) {
	w.snapshot.End()
	s.current = nil
	if w.cancelled {
		s.stats.LastSeconds = (s.e.env.Space.Now() - w.begun) / 1000
		s.e.log.Info("The save was cancelled")
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
func (s *saving) answer(waiting []*command.Parked, reply resp.Reply) {
	for _, p := range waiting {
		if p.Session.Parked == p {
			s.e.parking.Unpark(p.Session, reply)
		}
	}
}

// result records and logs how a save ended.
func (s *saving) result(w *save, err error, background bool) {
	env := &s.e.env
	if background {
		s.stats.LastSeconds = (env.Space.Now() - w.begun) / 1000
		s.stats.Failed = err != nil
	}
	if err != nil {
		s.e.log.Warn("Saving failed", "file", env.Config.Path(env.Config.RDB.File), "error", err)
		return
	}
	s.stats.Failed = false
	env.Dirty -= w.dirty
	env.LastSave = env.Space.Now() / 1000
	s.e.log.Info("DB saved on disk")
}

// Flushed follows FLUSHALL. A save in the background is cancelled. With save points the file
// is written at once, so that a crash does not bring back the keys.
func (s *saving) Flushed() {
	if s.current != nil && len(s.current.waiting) == 0 {
		s.cancel()
	}
	if cfg := s.e.env.Config; len(cfg.RDB.Points) > 0 && cfg.HasFile() && !s.reading {
		_ = s.Now() // the log has the error
	}
}

// Now saves the data at once and holds the engine's lock meanwhile: at the end of the
// server, after FLUSHALL and for DEBUG RELOAD. It cancels a save under way. After Interrupt it
// fails.
func (s *saving) Now() error {
	if s.ended() {
		return errSaveAtEnd
	}
	s.cancel()
	cfg := s.e.env.Config
	file, err := rdb.Create(cfg.Path(cfg.RDB.File), cfg.RDB.Checksum)
	w := s.begin()
	defer w.snapshot.End()
	for more := err == nil; more; {
		if s.ended() { // a second signal, or Close
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
func (s *saving) Last() error {
	err := s.Now()
	if err == nil {
		if s.current != nil {
			s.answer(s.current.waiting, resp.OK)
		}
		s.answer(s.queue, resp.OK)
		s.queue = nil
		s.e.pausing.Pause(math.MaxInt64, false)
	}
	return err
}

// LastAsked is Last if a client waits for a save: in Redis, SAVE would have ended before.
func (s *saving) LastAsked() {
	if s.asked() {
		_ = s.Last() // the log has the error
	}
}

// due returns when a save point or Schedule begins a save, in Unix ms; 0: at no time if
// nothing changes.
func (s *saving) due() (at int64) {
	env := &s.e.env
	switch {
	case s.current != nil || s.ended():
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
	case at != 0 && !env.Config.HasFile():
		return 0
	case at != 0 && s.stats.Failed:
		at = max(at, (s.tried+retrySeconds+1)*1000)
	}
	return at
}

// fire begins the save of Schedule or of a save point.
func (s *saving) fire(int64) (more bool) {
	if s.wanted {
		s.wanted = false
	} else {
		s.e.log.Info("A save point is reached. Saving...", "changes", s.e.env.Dirty,
			"since", time.Unix(s.e.env.LastSaved(), 0).UTC().Format(time.RFC3339))
	}
	s.Begin()
	return false
}

// refuses reports whether write commands are refused, because a save in the background has
// failed (stop-writes-on-bgsave-error).
func (s *saving) refuses() bool {
	cfg := s.e.env.Config
	return s.stats.Failed && cfg.RDB.StopWrites && len(cfg.RDB.Points) > 0
}
