package persist

import (
	"cmp"
	"errors"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/internal/rdb"
	"github.com/lockredis/lockredis/store"
)

// save is the writing of one file.
type save struct {
	files     *Files
	snapshot  *store.Snapshot
	out       []byte            // encoded and not yet written
	db        int               // of the last key; -1: none yet
	sized     map[int]bool      // databases with a size in the file
	begun     int64             // Unix ms
	keys      int64             // of the snapshot
	keysDone  int64             // how many of keys are encoded
	dirty     int64             // Env.Dirty when it began
	waiting   []*command.Parked // the clients of SAVE that wait for it
	cancelled bool              // its snapshot has ended; the file is not wanted unless it has its name
	replaced  bool              // a later save has written the file in its place
}

// A batch of a save ends after that many keys, or that many encoded bytes. The engine's
// lock is free between two batches.
const (
	batchKeys  = 128
	batchSteps = 16 // keys between two looks at the size
	batchBytes = 32 << 10
)

// The results of a save that is not wanted any more.
var (
	errSaveCancelled = errors.New("cancelled")
	errSaveAtEnd     = errors.New("the server ends")
)

// begin takes a snapshot, and encodes the beginning of the file. The functions may be left out.
func (s *Files) begin(without command.FileParts) *save {
	env := s.env
	now := env.Space.Now()
	s.encoder.Compress, s.encoder.Valkey = env.Config.RDB.Compress, env.Config.Valkey()
	w := &save{files: s, db: -1, sized: map[int]bool{}, begun: now, dirty: env.Dirty}
	w.out = s.encoder.AppendHead(nil, rdb.Facts{
		Server: cmp.Or(env.Config.EmulatedValkey(), config.RedisVersion),
		Unix:   now / 1000, Memory: env.Memory.Used(),
	})
	if s.logMark != "" {
		w.out = s.encoder.AppendFact(w.out, logFact, s.logMark)
	}
	w.out = s.appendPlace(w.out)
	if !without.Functions {
		w.out = s.encoder.AppendFunctions(w.out, env.Scripts.LibraryCodes())
	}
	for _, db := range env.Space.Opened() {
		w.keys += int64(db.Len())
	}
	w.snapshot = env.Space.Snapshot(w.visit)
	return w
}

// visit encodes a key of the snapshot.
func (w *save) visit(db store.SnapshotDB, e *store.Entry) {
	if db.ID != w.db {
		w.db = db.ID
		w.out = rdb.AppendDatabase(w.out, db.ID)
		if !w.sized[db.ID] {
			w.sized[db.ID] = true
			w.out = rdb.AppendSize(w.out, db.Keys, db.Expires)
		}
	}
	w.keysDone++
	w.out = w.files.appendUse(w.out, e)
	w.out = w.files.encoder.AppendKey(w.out, e.Key(), e.Value(), db.Deadline(e))
}

// appendUse appends what the policy keeps about the accesses to a key: it is nothing
// unless the policy is an LRU or LFU policy.
func (s *Files) appendUse(dst []byte, e *store.Entry) []byte {
	space := s.env.Space
	switch policy := s.env.Memory.Policy(); {
	case policy&store.LRU != 0:
		return rdb.AppendIdle(dst, space.Idle(e))
	case policy&store.LFU != 0:
		return rdb.AppendFrequency(dst, space.Frequency(e))
	}
	return dst
}

// step encodes a batch of keys and reports whether there are more.
func (w *save) step() (more bool) {
	if w.files.env.Config.RDB.SaveDelay > 0 {
		return w.snapshot.Next(1)
	}
	for n := 0; n < batchKeys && len(w.out) < batchBytes; n += batchSteps {
		if !w.snapshot.Next(batchSteps) {
			return false
		}
	}
	return true
}

// run writes the file, and ends the save with its result.
func (w *save) run(path string, sum bool) {
	err := w.write(path, sum)
	w.files.engine.Outside(func() { w.files.finish(w, err) })
}

// write writes the snapshot, batch by batch. It gives up when the server ends.
func (w *save) write(path string, sum bool) error {
	file, err := rdb.Create(path, sum)
	if err != nil {
		return err
	}
	var out []byte
	for more := true; more && file.Err() == nil; file.Write(out) {
		stopped := error(nil)
		w.files.engine.Outside(func() {
			more, stopped = w.step(), w.stopped()
			out, w.out = w.out, out[:0]
		})
		if stopped != nil {
			file.Abort()
			return stopped
		}
	}
	return w.commit(file)
}

// commit gives the file its name, unless the save is not wanted any more. It does so inside
// the engine: else a file could replace the one of a later save.
func (w *save) commit(file *rdb.File) error {
	err := file.Finish()
	if err != nil {
		return err
	}
	w.files.engine.Outside(func() {
		if err = w.stopped(); err != nil {
			file.Abort()
			return
		}
		err = file.Name()
	})
	if err == nil {
		file.SyncName()
	}
	return err
}

// stopped returns why the save is not wanted any more; nil: it is.
func (w *save) stopped() error {
	switch {
	case w.cancelled:
		return errSaveCancelled
	case w.files.engine.Ending():
		return errSaveAtEnd
	}
	return nil
}
