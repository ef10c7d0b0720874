package persist

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/lockredis/lockredis/internal/rdb"
)

// Snapshot is the content of an RDB file, in memory. It is for one call of Fill or Replace.
type Snapshot struct {
	keys []rdb.Key
	// Libraries are the source texts of the libraries of functions.
	Libraries []string
	db        int // that the stream behind the file is about
}

// Decode reads an RDB file that is in memory. Keys whose deadlines are over are left out. The error is
// that of Load for such a file. No data changes.
func (s *Files) Decode(file []byte) (*Snapshot, error) {
	read, err := s.decoder(s.env.Space.Now(), func() {})(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return nil, fmt.Errorf("RDB file: %w", err)
	}
	return read, nil
}

// Decoder returns a function that reads the file of a primary. Its keys come whether their deadlines are
// over or not. No data changes. The function may be called without the engine's lock: commands run
// meanwhile.
func (s *Files) Decoder() (decode func(file io.Reader, size int64) (*Snapshot, error)) {
	micros, slow := s.env.Config.RDB.LoadDelay, delays{}
	return s.decoder(math.MinInt64, func() { slow.after(micros, s.env.Server) })
}

// decoder returns a function that reads a file, for one call. It leaves out keys whose deadlines are over
// at now, in Unix ms, and calls each for every key.
func (s *Files) decoder(now int64, each func()) (decode func(file io.Reader, size int64) (*Snapshot, error)) {
	type name struct {
		db  int
		key string
	}
	read, names := &Snapshot{}, map[name]struct{}{}
	to, limits := s.reader(), s.env.Space.Limits
	to.Limits = &limits // a copy: commands may change them meanwhile
	to.Function = func(code string) error {
		read.Libraries = append(read.Libraries, code)
		return nil
	}
	to.Fact = func(name, value string) {
		if name == factStreamDB {
			read.db, _ = strconv.Atoi(value)
		}
	}
	to.Key = func(k rdb.Key) error {
		each()
		at := name{k.DB, string(k.Name)}
		if _, twice := names[at]; twice {
			return errKeyTwice
		}
		names[at] = struct{}{}
		if k.Deadline == 0 || k.Deadline > now {
			read.keys = append(read.keys, k)
		}
		return s.requireDatabase(k)
	}
	return func(file io.Reader, size int64) (*Snapshot, error) { return read, rdb.Load(file, size, to) }
}

// Fill adds the keys of a snapshot to databases without keys. Unlike Load, it tells of each key as of
// one that a command has made, so it serves parked clients.
func (s *Files) Fill(from *Snapshot) {
	for _, k := range from.keys {
		db := s.env.Space.DB(k.DB)
		s.place(db.Set(k.Name, k.Value), db, k)
	}
}

// Replace replaces all data by those of a primary's file. db is the database that the stream behind the
// file is about. After an error the data are as before.
func (s *Files) Replace(from *Snapshot) (db int, err error) {
	restored := s.env.Scripts.Restore()
	for _, code := range from.Libraries {
		if failure, ok := restored.Load(code, s.env.Script.Loader()); !ok {
			return 0, errors.New("library of functions: " + failure.Text())
		}
	}
	if failure, ok := restored.Commit(false, true); !ok {
		return 0, errors.New("library of functions: " + failure.Text())
	}
	for _, db := range s.env.Space.Opened() {
		db.Flush()
	}
	s.env.Tracking.Flushed()
	defer s.beginLoad(0)()
	observer := s.env.Space.Observe(s.quiet)
	defer s.env.Space.Observe(observer)
	for _, k := range from.keys {
		s.keep(k)
	}
	return from.db, nil
}
