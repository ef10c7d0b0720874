package persist

import (
	"errors"
	"io"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

// load is the reading of an RDB file or an append-only log into the databases.
//
// It is one unit. Before it reads the next loading-process-events-interval-bytes, it passes a safe
// point, as a script does: the units of the queued callers run there. All but the commands with
// the flag loading answer -LOADING.
type load struct {
	files  *Files
	begun  int64 // Unix s
	now    int64 // Unix ms: keys with an earlier deadline are left out
	total  int64 // bytes of the files
	read   int64 // bytes that are read of total
	next   int64 // read at the next safe point
	memory int64 // what the data took in the server that wrote the file, bytes; 0: unknown
	place  Place // that the file names
	slow   delays
}

// beginLoad begins the reading of files that have total bytes together. The function that it
// returns ends that.
func (s *Files) beginLoad(total int64) (end func()) {
	now := s.env.Space.Now()
	s.load = &load{
		files: s, begun: now / 1000, now: now, total: total, next: s.env.Config.RDB.LoadInterval,
	}
	s.engine.Reading(true)
	s.stats.KeysLoaded, s.stats.KeysExpired = 0, 0
	return func() {
		s.load = nil
		s.engine.Reading(false)
	}
}

// errInterrupted is why a file is not read to its end when the server is closed meanwhile.
var errInterrupted = errors.New("interrupted")

// loadedFile is a file that a load reads. Its reads fail when the server ends.
type loadedFile struct {
	io.Reader
	load *load
}

func (f loadedFile) Read(b []byte) (int, error) {
	l := f.load
	interval := l.files.env.Config.RDB.LoadInterval
	if l.read >= l.next {
		l.next = l.read + interval
		l.safePoint()
	}
	if l.files.engine.Ending() {
		return 0, errInterrupted
	}
	n, err := f.Reader.Read(b[:min(int64(len(b)), interval)])
	l.read += int64(n)
	return n, err
}

// safePoint lets other units run. A signal that waits for the end of the load need not wait: as in
// Redis, the server then ends and saves nothing, because it has only a part of the keys.
func (l *load) safePoint() {
	l.files.answerSignal(nil)
	l.files.engine.SafePoint()
}

// delay follows a key or a command of a file: it makes the load slow for a test
// (key-load-delay).
func (l *load) delay() { l.slow.after(l.files.env.Config.RDB.LoadDelay, l.files.env.Server) }

// delays are the delays of one load. A negative delay of n µs is one of 1 µs after each n keys.
type delays struct{ keys int64 } // since the last one

func (d *delays) after(micros int64, server command.Server) {
	switch d.keys++; {
	case micros > 0:
		server.Sleep(micros)
	case micros < 0 && d.keys >= -micros:
		d.keys = 0
		server.Sleep(1)
	}
}

// Loading returns the refusal of a command that cannot run while a file is read. ok is false if
// none is read.
func (s *Files) Loading() (refusal resp.Reply, ok bool) { return errLoading, s.load != nil }
