package engine

import (
	"slices"

	"github.com/lockredis/lockredis/internal/command"
)

// watcher is the engine as command.Watcher: who WATCHes which key.
type watcher Engine

// Watch remembers the key for the session's next EXEC.
func (w *watcher) Watch(s *command.Session, db int, key []byte) {
	k := watchKey{db, string(key)}
	if slices.Contains(w.watched[k], s) { // s.Watched may be long
		return
	}
	s.Watched = append(s.Watched, command.WatchedKey{DB: db, Key: k.key})
	w.watched[k] = append(w.watched[k], s)
}

// Unwatch forgets all of the session's keys and what became of them.
func (w *watcher) Unwatch(s *command.Session) {
	for _, old := range s.Watched {
		k := watchKey{old.DB, old.Key}
		list := w.watched[k]
		for i, other := range list {
			if other == s {
				list = append(list[:i:i], list[i+1:]...)
				break
			}
		}
		if len(list) == 0 {
			delete(w.watched, k)
		} else {
			w.watched[k] = list
		}
	}
	s.Watched, s.Touched = nil, false
}

// touchedIn spoils the transactions of those who watch a key of a database that
// has changed.
func (e *Engine) touchedIn(db int, changed func(key string) bool) {
	for k, sessions := range e.watched {
		if k.db == db && changed(k.key) {
			for _, s := range sessions {
				s.Touched = true
			}
		}
	}
}

// touched spoils the transactions of those who watch the key.
func (e *Engine) touched(db int, key string) {
	if len(e.watched) == 0 {
		return
	}
	for _, s := range e.watched[watchKey{db, key}] {
		s.Touched = true
	}
}
