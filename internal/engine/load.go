package engine

import (
	"errors"
	"os"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

// load is the reading of an RDB file or an append-only log into the databases.
//
// It is one unit. Before it reads the next loading-process-events-interval-bytes, it passes a safe
// point, as a script does: the units of the queued callers run there. All but the commands with
// the flag loading answer -LOADING.
type load struct {
	e       *Engine
	begun   int64 // Unix s
	now     int64 // Unix ms: keys with an earlier deadline are left out
	total   int64 // bytes of the files
	read    int64 // of those, how many are read
	next    int64 // read at the next safe point
	memory  int64 // what the data took in the server that wrote the file, bytes; 0: unknown
	delayed int64 // keys and commands since the last delay
}

// beginLoad begins the reading of files that have total bytes together. The function that it
// returns ends that.
func (s *saving) beginLoad(total int64) (end func()) {
	e := s.e
	now := e.env.Space.Now()
	e.load = &load{
		e: e, begun: now / 1000, now: now, total: total, next: e.env.Config.RDB.LoadInterval,
	}
	e.midway = true
	s.stats.KeysLoaded, s.stats.KeysExpired = 0, 0
	return func() {
		e.load = nil
		e.midway = e.script.running
	}
}

// errInterrupted is why a file is not read to its end when the server is closed meanwhile.
var errInterrupted = errors.New("interrupted")

// loadedFile is a file that a load reads. Its reads fail after Engine.Interrupt.
type loadedFile struct {
	*os.File
	load *load
}

func (f loadedFile) Read(b []byte) (int, error) {
	l := f.load
	interval := l.e.env.Config.RDB.LoadInterval
	if l.read >= l.next {
		l.next = l.read + interval
		l.safePoint()
	}
	if l.e.interrupted.Load() {
		return 0, errInterrupted
	}
	n, err := f.File.Read(b[:min(int64(len(b)), interval)])
	l.read += int64(n)
	return n, err
}

// safePoint runs the units of the queued callers, at the present time. The load's own time stands
// still. A signal that waits for the end of the load need not wait: as in Redis, the server
// then ends and saves nothing, because it has only a part of the keys.
func (l *load) safePoint() {
	e := l.e
	e.saving.answerSignal(nil)
	e.helpOthers()
	if e.running.Shared {
		e.startReplacement(e.running)
	}
	micros := e.env.Micros
	e.readClock()
	e.runQueuedAtSafePoint(e.interrupted.Load)
	e.env.Micros = micros
	e.env.Space.SetNow(micros / 1000)
}

// delay follows a key or a command of a file: it makes the load slow for a test
// (key-load-delay). A negative delay of n µs is one of 1 µs after each n keys.
func (l *load) delay() {
	micros := l.e.env.Config.RDB.LoadDelay
	switch l.delayed++; {
	case micros > 0:
		l.e.env.Server.Sleep(micros)
	case micros < 0 && l.delayed >= -micros:
		l.delayed = 0
		l.e.env.Server.Sleep(1)
	}
}

// refusesMidway reports whether a command may not run at a safe point of a load or of a script.
func (e *Engine) refusesMidway(c *command.Ctx) bool {
	switch cmd := c.Cmd; {
	case e.load != nil && (!cmd.Has(command.Loading) || cmd.Has(command.RunsQueue) && !c.Session.Multi.Loads()):
		e.answer = errLoading
	case e.script.running && !cmd.Has(command.AllowBusy):
		e.answer = e.script.refusal()
	default:
		return false
	}
	return true
}

// quiet is the store's observer while an RDB file is read: a key of the file is no event, and no
// client watches it or waits for it.
type quiet struct{ effects }

func (q *quiet) Touched(db int, key string) { q.e.journal.key(KeyTouched, db, key) }
func (q *quiet) Added(db int, key string)   { q.e.journal.key(KeyAdded, db, key) }
func (q *quiet) Lost(int, string)           {}

// Loading returns the refusal of a command that cannot run while a file is read. ok is false if
// none is read.
func (s *saving) Loading() (refusal resp.Reply, ok bool) { return errLoading, s.e.load != nil }
