package engine

import (
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

// LoadFile reads the append-only log or the RDB file, if the server has one and it is there. It
// first calls accept inside the engine: the clients that connect from then on get -LOADING. After
// an error the databases have a part of the keys.
func (e *Engine) LoadFile(accept func()) (err error) {
	e.Outside(func() {
		accept()
		cfg := e.env.Config
		if !cfg.HasFile() && !cfg.RDB.Program {
			return
		}
		if cfg.RDB.Program && cfg.HasFile() {
			rdb.RemoveLeftovers(cfg.Dir)
		}
		began := e.stopwatch.restart()
		from := "append only file"
		var loaded bool
		if loaded, err = e.saving.loadLog(); !loaded && err == nil && cfg.HasFile() {
			from = "disk"
			err = e.saving.Load(false)
			loaded = err == nil
			if errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
		}
		if loaded && err == nil {
			seconds := float64(e.stopwatch.restart()-began) / 1e6
			e.log.Info(fmt.Sprintf("DB loaded from %s: %.3f seconds", from, seconds))
		}
	})
	return err
}

// SaveAtEnd saves the data before the program ends, if the directives ask for that. With an
// error the program should not end. It ends DEBUG SLEEP. A running script keeps SaveAtEnd waiting.
// Meanwhile SHUTDOWN ABORT makes it return config.ErrShutdownAborted. While DEBUG RELOAD reads the
// file, nothing is saved.
func (e *Engine) SaveAtEnd() error {
	e.env.Server.EndSleep()
	result := make(chan error, 1)
	e.saving.ending.Store(&result)
	go e.Outside(func() {
		if e.saving.ending.CompareAndSwap(&result, nil) {
			var err error
			defer func() { result <- err }()
			err = e.saveAtEnd()
		}
	})
	return <-result
}

// Abort undoes the signal for which SaveAtEnd waits. It returns false if there is none.
func (s *saving) Abort() bool { return s.answerSignal(config.ErrShutdownAborted) }

// answerSignal has a waiting SaveAtEnd return err, and save nothing. It returns false if none
// waits.
func (s *saving) answerSignal(err error) bool {
	result := s.ending.Swap(nil)
	if result != nil {
		*result <- err
	}
	return result != nil
}

func (e *Engine) saveAtEnd() error {
	saves, force := e.env.Config.SavesAtEnd()
	if !saves {
		e.saving.LastAsked()
		return nil
	}
	e.log.Warn("Saving the final RDB snapshot before exiting.")
	if err := e.saving.Last(); !force {
		return err
	}
	return nil
}

// Load reads the RDB file and adds its keys. With merge they replace keys of the same name,
// else such a key is an error. Expired keys are left out.
func (s *saving) Load(merge bool) error {
	env := &s.e.env
	path := env.Config.Path(env.Config.RDB.File)
	f, size, err := openSized(path)
	if err != nil {
		return err
	}
	defer f.Close()
	defer s.beginLoad(size)()
	if err := s.loadFrom(loadedFile{f, s.e.load}, size, merge); err != nil {
		return fmt.Errorf("load %s: %w", path, err)
	}
	s.e.log.Info(fmt.Sprintf("Done loading RDB, keys loaded: %d, keys expired: %d.",
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
func (s *saving) loadFrom(r io.Reader, size int64, merge bool) error {
	env := &s.e.env
	observer := env.Space.Observe(&quiet{s.e.effects})
	defer env.Space.Observe(observer)
	return rdb.Load(r, size, rdb.Reader{
		Limits: &env.Space.Limits,
		AnySum: env.SkipChecksums || !env.Config.RDB.Checksum,
		Valkey: env.Config.Valkey(),
		Key:    func(k rdb.Key) error { return s.add(k, merge) },
		Function: func(code string) error {
			_, failure, ok := env.Scripts.LoadLibrary([]byte(code), merge, s.e.script.Loader())
			if !ok {
				return errors.New("library of functions: " + failure.Text())
			}
			return nil
		},
		Fact: s.fact,
	})
}

// fact logs what a file says about itself, as redis-server does.
func (s *saving) fact(name, value string) {
	n, _ := strconv.ParseInt(value, 10, 64)
	switch name {
	case "redis-ver", "valkey-ver":
		s.e.log.Info("Loading RDB produced by version " + value)
	case "ctime":
		s.e.log.Info(fmt.Sprintf("RDB age %d seconds", max(s.e.clock.Now().Unix()-n, 0)))
	case "used-mem":
		s.e.load.memory = n
		s.e.log.Info(fmt.Sprintf("RDB memory usage when created %.2f Mb", float64(n)/(1<<20)))
	}
}

// add adds a key of a file.
func (s *saving) add(k rdb.Key, merge bool) error {
	space := s.e.env.Space
	switch {
	case k.DB >= space.Len():
		return fmt.Errorf("it is in database %d, and the directive databases is %d", k.DB, space.Len())
	case k.Deadline != 0 && k.Deadline <= s.e.load.now:
		s.stats.KeysExpired++
		return nil
	}
	db := space.DB(k.DB)
	if !merge && db.Stored(k.Name) != nil {
		return errKeyTwice
	}
	s.stats.KeysLoaded++
	s.place(db.Set(k.Name, k.Value), db, k)
	s.e.load.delay()
	return nil
}

// place sets the deadline and the last access of a key of a file.
func (s *saving) place(e *store.Entry, db *store.DB, k rdb.Key) {
	if k.Deadline != 0 {
		db.SetDeadline(e, k.Deadline)
	}
	if k.Idle >= 0 {
		s.e.env.Space.SetIdle(e, k.Idle)
	}
	if k.Frequency >= 0 {
		s.e.env.Space.SetFrequency(e, k.Frequency)
	}
}
