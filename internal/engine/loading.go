package engine

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/internal/rdb"
	"github.com/lockredis/lockredis/store"
)

var errKeyTwice = errors.New("the key exists already")

// LoadFile reads the append-only log or the RDB file, if the server has one and it is there. It
// is called before Start. After an error the databases have a part of the keys.
func (e *Engine) LoadFile() (err error) {
	cfg := e.env.Config
	if !cfg.HasFile() && !cfg.RDB.Program {
		return nil
	}
	if cfg.RDB.Program && cfg.HasFile() {
		rdb.RemoveLeftovers(cfg.Dir)
	}
	e.Outside(func() {
		var loaded bool
		if loaded, err = e.saving.loadLog(); !loaded && err == nil && cfg.HasFile() {
			err = e.saving.Load(false)
			if errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
		}
	})
	return err
}

// SaveAtEnd saves the data before the program ends, if the directives ask for that. With an
// error the program should not end. It ends DEBUG SLEEP. A running script keeps SaveAtEnd waiting.
// Meanwhile SHUTDOWN ABORT makes it return config.ErrShutdownAborted.
func (e *Engine) SaveAtEnd() error {
	e.env.Server.EndSleep()
	aborted, done := make(chan struct{}), make(chan error, 1)
	e.saving.ending.Store(&aborted)
	go e.Outside(func() {
		if e.saving.ending.CompareAndSwap(&aborted, nil) {
			var err error
			defer func() { done <- err }()
			err = e.saveAtEnd()
		}
	})
	select {
	case err := <-done:
		return err
	case <-aborted:
		return config.ErrShutdownAborted
	}
}

// Abort undoes the signal for which SaveAtEnd waits. It returns false if there is none.
func (s *saving) Abort() bool {
	aborted := s.ending.Swap(nil)
	if aborted != nil {
		close(*aborted)
	}
	return aborted != nil
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
	events := env.Config.NotifyEvents
	env.Config.NotifyEvents = 0 // a key from a file is no event
	defer func() { env.Config.NotifyEvents = events }()
	defer s.e.tracking.suspend()()
	if err := s.loadFrom(interruptible{f, s.e}, size, merge); err != nil {
		return fmt.Errorf("load %s: %w", path, err)
	}
	s.e.log.Info("Done loading RDB", "keys", s.stats.KeysLoaded, "expired", s.stats.KeysExpired)
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
	s.stats.KeysLoaded, s.stats.KeysExpired = 0, 0
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
	})
}

// errInterrupted is why a file is not read to its end when the server is closed meanwhile.
var errInterrupted = errors.New("interrupted")

// interruptible is a file whose reads fail after Engine.Interrupt.
type interruptible struct {
	*os.File
	e *Engine
}

func (f interruptible) Read(b []byte) (int, error) {
	if f.e.interrupted.Load() {
		return 0, errInterrupted
	}
	return f.File.Read(b)
}

// add adds a key of a file.
func (s *saving) add(k rdb.Key, merge bool) error {
	space := s.e.env.Space
	switch {
	case k.DB >= space.Len():
		return fmt.Errorf("it is in database %d, and the directive databases is %d", k.DB, space.Len())
	case k.Deadline != 0 && k.Deadline <= space.Now():
		s.stats.KeysExpired++
		return nil
	}
	db := space.DB(k.DB)
	if !merge && db.Stored(k.Name) != nil {
		return errKeyTwice
	}
	s.stats.KeysLoaded++
	s.place(db.Set(k.Name, k.Value), db, k)
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
