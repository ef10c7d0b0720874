package persist

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/lockredis/lockredis/internal/rdb"
)

// Aside is the data of a primary's RDB file that was read beside the present data.
type Aside struct {
	keys      []rdb.Key
	libraries []string // source texts
	db        int      // that the stream behind the file is about
}

// ReadAside returns a function that reads a file and changes no data. Keys are read whether their
// deadlines are over or not. The function may be called without the engine's lock: commands run meanwhile.
func (s *Files) ReadAside() (read func(file io.Reader, size int64) (*Aside, error)) {
	limits, micros := s.env.Space.Limits, s.env.Config.RDB.LoadDelay
	to := s.reader()
	to.Limits = &limits
	return func(file io.Reader, size int64) (*Aside, error) {
		a, slow := &Aside{}, delays{}
		to.Key = func(k rdb.Key) error {
			slow.after(micros, s.env.Server)
			a.keys = append(a.keys, k)
			return s.requireDatabase(k)
		}
		to.Function = func(code string) error {
			a.libraries = append(a.libraries, code)
			return nil
		}
		to.Fact = func(name, value string) {
			if name == factStreamDB {
				fmt.Sscan(value, &a.db)
			}
		}
		return a, rdb.Load(file, size, to)
	}
}

// ReplaceBy replaces all data by those of a file. db is the database that the stream behind the file is
// about. After an error the data are as before.
func (s *Files) ReplaceBy(a *Aside) (db int, err error) {
	restored := s.env.Scripts.Restore()
	for _, code := range a.libraries {
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
	s.load.now = math.MinInt64
	observer := s.env.Space.Observe(s.quiet)
	defer s.env.Space.Observe(observer)
	for _, k := range a.keys {
		s.keep(k)
	}
	return a.db, nil
}
