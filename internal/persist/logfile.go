package persist

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/lockredis/lockredis/internal/aof"
	"github.com/lockredis/lockredis/internal/rdb"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

// The server reads an append-only log that Redis has written, at the start, and writes none.
// Its own changes go into the RDB file. That file has a fact then: the names and sizes of the
// log's files. At the next start the RDB file is read if this fact is right: it has the log's
// data and all later changes. If Redis has written to the log meanwhile, the log is read.

// logFact is the name of the fact.
const logFact = "lockredis-log"

// loadLog reads the log, if the directive appendonly asks for it and there is one. It returns
// false if the RDB file is to be read.
func (s *Files) loadLog() (loaded bool, err error) {
	cfg := s.env.Config
	if !cfg.AOF.On {
		return false, nil
	}
	log, err := aof.Find(cfg.Dir, cfg.AOF.Folder, cfg.AOF.File)
	if err != nil {
		return true, fmt.Errorf("load the append only file: %w", err)
	}
	if len(log.Files) == 0 {
		s.log.Warn("appendonly: there is no log to read, and none is written. The RDB file keeps the data")
		return false, nil
	}
	var size int64
	if s.logMark, size, err = measure(log.Files); err != nil {
		return true, fmt.Errorf("load the append only file: %w", err)
	}
	s.log.Warn("appendonly: the log is read and not written. The RDB file keeps the changes from now on")
	if cfg.HasFile() && s.fileMark() == s.logMark {
		s.log.Info("The RDB file has the log's data and later changes")
		return false, nil
	}
	return true, s.readLog(log.Files, size)
}

// measure returns the names and sizes of files, and the sum of the sizes.
func measure(paths []string) (mark string, sum int64, err error) {
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return "", 0, err
		}
		mark += fmt.Sprintf("%s=%d;", filepath.Base(path), info.Size())
		sum += info.Size()
	}
	return mark, sum, nil
}

// fileMark returns the fact of the RDB file, "" without one.
func (s *Files) fileMark() (mark string) {
	f, size, err := openSized(s.env.Config.Path(s.env.Config.RDB.File))
	if err != nil {
		return ""
	}
	defer f.Close()
	stop := errors.New("the facts come first")
	_ = rdb.Load(f, size, rdb.Reader{ // another error shows when the file is read
		Limits: &s.env.Space.Limits, Valkey: true,
		Key:      func(rdb.Key) error { return stop },
		Function: func(string) error { return stop },
		Fact: func(name, value string) {
			if name == logFact {
				mark = value
			}
		},
	})
	return mark
}

// readLog reads the files of a log, which have size bytes together.
func (s *Files) readLog(paths []string, size int64) error {
	r := &logReader{Files: s}
	defer r.begin(size)()
	for i, path := range paths {
		if err := r.file(path, i == len(paths)-1); err != nil {
			return fmt.Errorf("load %s: %w", path, err)
		}
	}
	return nil
}

// logReader runs the commands of a log.
type logReader struct {
	*Files
	db    int // of SELECT
	multi bool
	queue [][][]byte // the commands since MULTI
}

// begin sets the engine up for the log, and returns what ends that. While the log is read the
// time is the beginning of 1970, so that no key expires: a later command of the log may set
// another deadline, and Redis has logged the end of each key that expired.
func (r *logReader) begin(total int64) (end func()) {
	space, endLoad := r.env.Space, r.beginLoad(total)
	r.replays = true
	r.load.now = 0
	r.setTime(0)
	return func() {
		r.setTime(r.present())
		now := space.Now()
		for _, db := range space.Opened() {
			db.EachStored(func(entry *store.Entry) bool {
				space.SetNow(0)
				idle := space.Idle(entry)
				space.SetNow(now)
				space.SetIdle(entry, idle)
				return true
			})
		}
		r.replays = false
		endLoad()
	}
}

func (r *logReader) setTime(micros int64) {
	r.env.Micros = micros
	r.env.Space.SetNow(micros / 1000)
}

// present returns the clock's time in Unix µs.
func (r *logReader) present() int64 { return r.env.Clock.Now().UnixMicro() }

// file reads a file: an RDB file with commands behind it, or only commands. last says that it
// may be truncated.
func (r *logReader) file(path string, last bool) error {
	f, size, err := openSized(path)
	if err != nil {
		return err
	}
	defer f.Close()
	in := bufio.NewReaderSize(loadedFile{f, r.load}, 1<<20)
	r.db, r.multi, r.queue = 0, false, nil
	if head, _ := in.Peek(5); string(head) == "REDIS" {
		if err := r.loadFrom(in, size, false); err != nil {
			return err
		}
	}
	err = aof.Commands(in, size, r.run)
	if err == nil && r.multi {
		r.log.Warn("Revert incomplete MULTI/EXEC transaction in AOF file", "file", path)
		err = aof.ErrTruncated
	}
	if !errors.Is(err, aof.ErrTruncated) {
		return err
	}
	switch {
	case !last:
		return errors.New("the truncated file is not the last file")
	case !r.env.Config.AOF.Truncated:
		return errors.New("Unexpected end of file reading the append only file: " + //lint:ignore ST1005 Redis's text
			"set the 'aof-load-truncated' configuration option to yes and restart the server")
	}
	r.log.Warn("AOF loaded anyway because aof-load-truncated is enabled", "file", path)
	return nil
}

// run runs a command of the log. As in Redis its reply does not count. The commands of a
// transaction wait for EXEC.
func (r *logReader) run(args [][]byte) error {
	name := strings.ToLower(string(args[0]))
	switch {
	case name == "multi":
		r.multi = true
		return nil
	case name == "exec":
		queue := r.queue
		r.multi, r.queue = false, nil
		for _, queued := range queue {
			if err := r.execute(queued); err != nil {
				return err
			}
		}
		return nil
	case r.multi:
		r.queue = append(r.queue, args)
		return nil
	}
	return r.execute(args)
}

// relative are the commands whose deadlines count from the present time. Redis logs absolute
// ones today; old versions logged scripts.
var relative = map[string]bool{
	"expire": true, "pexpire": true, "setex": true, "psetex": true,
	"eval": true, "evalsha": true, "fcall": true,
}

func (r *logReader) execute(args [][]byte) error {
	name := strings.ToLower(string(args[0]))
	if name == "select" {
		n, ok := resp.ParseInt(bytes.Join(args[1:], nil))
		if !ok || n < 0 || n >= int64(r.env.Space.Len()) {
			return fmt.Errorf("SELECT %q: the directive databases is %d", args[1:], r.env.Space.Len())
		}
		r.db = int(n)
		return nil
	}
	if relative[name] {
		r.setTime(r.present())
		r.env.Space.KeepExpired = true
		defer func() {
			r.env.Space.KeepExpired = false
			r.setTime(0)
		}()
	}
	if !r.engine.Replay(r.db, args) {
		return fmt.Errorf("Unknown command '%s' reading the append only file", args[0]) //lint:ignore ST1005 Redis's text
	}
	r.load.delay()
	return nil
}
