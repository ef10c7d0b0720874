package engine

import (
	"slices"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/heapsize"
	"github.com/lockredis/lockredis/internal/shrink"
)

// watches is the index of watched keys: which sessions WATCH which key.
type watches struct {
	index map[watchedKey][]*command.Session
	peak  int   // of index, see shrink.Delete
	bytes int64 // estimated memory
	stale bool  // a watched key may be Stale

	changed func() // called when the first key is watched, and when none is watched any more
}

// watchedKey is a key with its database's number.
type watchedKey struct {
	db  int
	key string
}

// Watch makes the session's next EXEC depend on the key.
func (w *watches) Watch(s *command.Session, db int, key []byte) {
	k := watchedKey{db, string(key)}
	if slices.Contains(w.index[k], s) { // s.Watched may be long
		return
	}
	s.Watched = append(s.Watched, command.WatchedKey{DB: db, Key: k.key})
	list := w.index[k]
	w.index[k] = append(list, s)
	w.bytes += watchBytes(k.key, len(list) == 0)
	if len(list) == 0 && len(w.index) == 1 {
		w.changed()
	}
}

// watchBytes estimates the memory of a watched key of a session. alone means that no other
// session watches it.
func watchBytes(key string, alone bool) int64 {
	const each = 48 // in Session.Watched and the list of sessions, which append makes larger
	n := each + heapsize.Text(len(key))
	if alone {
		n += heapsize.MapEntry[watchedKey, []*command.Session]()
	}
	return int64(n)
}

// Unwatch removes the session's watched keys and its mark that one of them changed.
func (w *watches) Unwatch(s *command.Session) {
	for _, old := range s.Watched {
		k := watchedKey{old.DB, old.Key}
		list := w.index[k]
		if i := slices.Index(list, s); i >= 0 {
			list = append(list[:i:i], list[i+1:]...)
			w.bytes -= watchBytes(k.key, len(list) == 0)
		}
		if len(list) == 0 {
			if shrink.Delete(&w.index, k, &w.peak); len(w.index) == 0 {
				w.changed()
			}
		} else {
			w.index[k] = list
		}
	}
	s.Watched, s.Touched = nil, false
}

// spoil makes the next EXEC fail of each session that watches the key.
func (w *watches) spoil(db int, key string) {
	if len(w.index) == 0 {
		return
	}
	w.touch(watchedKey{db, key}, w.index[watchedKey{db, key}])
}

// touch makes the next EXEC of the sessions fail, unless the key is Stale for a session: it
// counted as missing, and an expired key that is deleted is missing again.
func (w *watches) touch(k watchedKey, sessions []*command.Session) {
	for _, s := range sessions {
		if !w.stale || !s.MarkStale(k.db, k.key, false) {
			s.Touched = true
		}
	}
}

// setStale sets Stale of a watched key for all sessions.
func (w *watches) setStale(db int, key string, stale bool) {
	if w.stale = w.stale || stale; !w.stale {
		return
	}
	for _, s := range w.index[watchedKey{db, key}] {
		s.MarkStale(db, key, stale)
	}
}

// spoilWhere does the same for every watched key of the database that changed reports. It
// walks the watched keys, because there are fewer of them than keys.
func (w *watches) spoilWhere(db int, changed func(key string) bool) {
	for k, sessions := range w.index {
		if k.db == db && changed(k.key) {
			w.touch(k, sessions)
		}
	}
}
