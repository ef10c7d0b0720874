package persist

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"

	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/internal/rdb"
	"github.com/lockredis/lockredis/store"
)

var errKeyTwice = errors.New("the key exists already")

// Open reads the append-only log or the RDB file, if the server has one and it is there. It
// first calls accept inside the engine: the clients that connect from then on get -LOADING. After
// an error the databases have a part of the keys.
func (s *Files) Open(accept func()) (err error) {
	s.engine.Outside(func() {
		accept()
		cfg := s.env.Config
		if !cfg.HasFile() && !cfg.RDB.Program {
			return
		}
		if cfg.RDB.Program && cfg.HasFile() {
			rdb.RemoveLeftovers(cfg.Dir)
		}
		s.opening = true
		defer func() { s.opening = false }()
		began := s.env.Clock.Now()
		from := "append only file"
		var loaded bool
		if loaded, err = s.loadLog(); !loaded && err == nil && cfg.HasFile() {
			from = "disk"
			err = s.Load(false)
			loaded = err == nil
			if errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
		}
		if loaded && err == nil {
			seconds := s.env.Clock.Now().Sub(began).Seconds()
			s.log.Info(fmt.Sprintf("DB loaded from %s: %.3f seconds", from, seconds))
		}
	})
	return err
}

// SaveAtEnd saves the data before the program ends, if the directives ask for that. With an
// error the program should not end. It ends DEBUG SLEEP. A running script keeps SaveAtEnd waiting.
// Meanwhile SHUTDOWN ABORT makes it return config.ErrShutdownAborted. While DEBUG RELOAD reads the
// file, nothing is saved.
func (s *Files) SaveAtEnd() error {
	s.env.Server.EndSleep()
	result := make(chan error, 1)
	s.ending.Store(&result)
	go s.engine.Outside(func() {
		if s.ending.CompareAndSwap(&result, nil) {
			var err error
			defer func() { result <- err }()
			err = s.saveAtEnd()
		}
	})
	return <-result
}

// Abort undoes the signal for which SaveAtEnd waits. It returns false if there is none.
func (s *Files) Abort() bool { return s.answerSignal(config.ErrShutdownAborted) }

// answerSignal has a waiting SaveAtEnd return err, and save nothing. It returns false if none
// waits.
func (s *Files) answerSignal(err error) bool {
	result := s.ending.Swap(nil)
	if result != nil {
		*result <- err
	}
	return result != nil
}

func (s *Files) saveAtEnd() error {
	saves, force := s.env.Config.SavesAtEnd()
	if !saves {
		s.LastAsked()
		return nil
	}
	s.log.Warn("Saving the final RDB snapshot before exiting.")
	if err := s.Last(); !force {
		return err
	}
	return nil
}

// Load reads the RDB file and adds its keys. With merge they replace keys of the same name,
// else such a key is an error. Expired keys are left out.
func (s *Files) Load(merge bool) error {
	env := s.env
	path := env.Config.Path(env.Config.RDB.File)
	f, size, err := openSized(path)
	if err != nil {
		return err
	}
	defer f.Close()
	defer s.beginLoad(size)()
	if err := s.loadFrom(loadedFile{f, s.load}, size, merge); err != nil {
		return fmt.Errorf("load %s: %w", path, err)
	}
	s.loaded = s.load.place
	s.log.Info(fmt.Sprintf("Done loading RDB, keys loaded: %d, keys expired: %d.",
		s.stats.KeysLoaded, s.stats.KeysExpired))
	return nil
}

// openSized opens a file and returns its size in bytes.
func openSized(path string) (f *os.File, size int64, err error) {
	if f, err = os.Open(path); err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// loadFrom reads an RDB file of at most size bytes.
func (s *Files) loadFrom(r io.Reader, size int64, merge bool) error {
	env := s.env
	observer := env.Space.Observe(s.quiet)
	defer env.Space.Observe(observer)
	to := s.reader()
	to.Key = func(k rdb.Key) error { return s.add(k, merge) }
	to.Function = func(code string) error {
		_, failure, ok := env.Scripts.LoadLibrary([]byte(code), merge, env.Script.Loader())
		if !ok {
			return errors.New("library of functions: " + failure.Text())
		}
		return nil
	}
	to.Fact = s.fact
	return rdb.Load(r, size, to)
}

// reader returns a reader that accepts the files that this server accepts.
func (s *Files) reader() rdb.Reader {
	return rdb.Reader{
		Limits: &s.env.Space.Limits,
		AnySum: s.env.SkipChecksums || !s.env.Config.RDB.Checksum,
		Valkey: s.env.Config.Valkey(),
	}
}

// requireDatabase returns an error if this server has no database with the number of a key's.
func (s *Files) requireDatabase(k rdb.Key) error {
	if n := s.env.Space.Len(); k.DB >= n {
		return fmt.Errorf("it is in database %d, and the directive databases is %d", k.DB, n)
	}
	return nil
}

// fact logs what a file says about itself, as redis-server does.
func (s *Files) fact(name, value string) {
	n, _ := strconv.ParseInt(value, 10, 64)
	switch name {
	case "redis-ver", "valkey-ver":
		s.log.Info("Loading RDB produced by version " + value)
	case "ctime":
		s.log.Info(fmt.Sprintf("RDB age %d seconds", max(s.env.Clock.Now().Unix()-n, 0)))
	case factStreamDB:
		s.load.place.DB = int(n)
	case factID:
		s.load.place.ID = value
	case factOffset:
		s.load.place.Offset = n
	case "used-mem":
		s.load.memory = n
		s.log.Info(fmt.Sprintf("RDB memory usage when created %.2f Mb", float64(n)/(1<<20)))
	}
}

// add adds a key of a file.
func (s *Files) add(k rdb.Key, merge bool) error {
	if err := s.requireDatabase(k); err != nil {
		return err
	}
	space := s.env.Space
	if k.Deadline != 0 && k.Deadline <= s.load.now {
		s.stats.KeysExpired++
		if s.opening && s.load.place.ID != "" {
			s.expired = append(s.expired, KeyName{k.DB, bytes.Clone(k.Name)})
		}
		return nil
	}
	db := space.DB(k.DB)
	if !merge && db.Stored(k.Name) != nil {
		return errKeyTwice
	}
	s.keep(k)
	s.load.delay()
	return nil
}

// keep stores a key of a file.
func (s *Files) keep(k rdb.Key) {
	s.stats.KeysLoaded++
	db := s.env.Space.DB(k.DB)
	e := db.Set(k.Name, k.Value)
	s.place(e, db, k)
	s.quiet.Loaded(k.DB, e.Key())
}

// place sets the deadline and the last access of a key of a file.
func (s *Files) place(e *store.Entry, db *store.DB, k rdb.Key) {
	if k.Deadline != 0 {
		db.SetDeadline(e, k.Deadline)
	}
	if k.Idle >= 0 {
		s.env.Space.SetIdle(e, k.Idle)
	}
	if k.Frequency >= 0 {
		s.env.Space.SetFrequency(e, k.Frequency)
	}
}
