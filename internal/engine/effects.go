package engine

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/journal"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

// effects hears of each change of a key: from commands as command.Changes, and from the store,
// as its observer, of changes that no command asks for. It passes a change to the rooms: the
// watched keys, the tracked keys, the parked clients, the events, the record of locks, the journal.
type effects struct{ e *Engine }

// ReadJournal adds a reader of entries of these kinds; of all if none is given. It is called before
// Start. The reader runs inside the engine and must not run commands.
func (e *Engine) ReadJournal(read func(*journal.Entry), wanted ...journal.Kind) {
	e.journal.Read(read, wanted...)
	e.attend()
}

// Follow calls do with each command line that tells of a change, and with the number of its
// database, until stop is called. Both are called before Start or inside the engine. The command that
// runs then is not told. do runs inside the engine, and must copy what it keeps.
func (e *Engine) Follow(do func(db int, line resp.Args)) (stop func()) {
	unfollow := e.telling.Follow(&e.journal, &e.env, do)
	e.attend()
	return func() {
		unfollow()
		e.attend()
	}
}

// Changed passes a command's change to the rooms that hear of changes.
func (f *effects) Changed(ch *command.Change) {
	f.e.env.Dirty += ch.Count
	switch heard := f.e.attention & hearing; heard {
	case 0:
	case byRecord:
		f.e.record.Changed(ch)
	default:
		f.pass(ch, heard)
	}
}

func (f *effects) pass(ch *command.Change, heard attention) {
	if heard&byJournal != 0 {
		f.e.journal.Changed(ch)
	}
	if heard&byRecord != 0 {
		f.e.record.Changed(ch)
	}
	if heard&(byWatches|byTracking) != 0 && ch.Watched() {
		f.touched(ch.DB, ch.Key)
		if ch.ToEvent != "" {
			f.touched(ch.ToDB, ch.To.Key())
		}
	}
	if heard&byEvents != 0 && !ch.Silent() {
		f.e.env.Events.Notify(ch.Class, ch.Event, ch.DB, ch.Key)
		if ch.ToEvent != "" {
			f.e.env.Events.Notify(ch.Class, ch.ToEvent, ch.ToDB, ch.To.Key())
		}
	}
	if heard&byParked != 0 && ch.Wakes() {
		f.e.parking.Signal(ch.DB, ch.Key)
	}
	if heard&byAwaiting != 0 {
		f.e.awaiting.changed(ch.Key)
		if ch.ToEvent != "" {
			f.e.awaiting.changed(ch.To.Key())
		}
	}
}

// touched makes the transactions fail that watch the key, and invalidates it in clients'
// caches.
func (f *effects) touched(db int, key string) {
	f.e.watches.spoil(db, key)
	if f.e.tracking.Active() {
		f.e.tracking.Changed(key)
	}
}

// dropped is touched for a change that no client has made.
func (f *effects) dropped(db int, key string) {
	f.touched(db, key)
	f.e.awaiting.changed(key)
	if f.e.tracking.Active() {
		f.e.tracking.NoClient(key)
	}
}

// Expired announces that the key was deleted because its deadline had come.
func (f *effects) Expired(db int, key string) {
	f.e.journal.Key(journal.KeyExpired, db, key)
	f.e.record.Forget(db, key)
	f.dropped(db, key)
	f.e.env.Events.Notify(command.ExpiredClass, "expired", db, key)
}

// FieldsExpired announces that fields were deleted because their deadlines had come, and
// whether the key was deleted with them.
func (f *effects) FieldsExpired(db int, key string, fields []string, gone bool) {
	f.e.journal.FieldsExpired(db, key, fields, gone)
	f.dropped(db, key)
	f.e.env.Events.Notify(command.HashClass, "hexpired", db, key)
	if gone {
		f.e.record.Forget(db, key)
		f.e.env.Events.Notify(command.Generic, "del", db, key)
	}
}

// Evicted announces that the key was deleted because maxmemory was exceeded.
func (f *effects) Evicted(db int, key string) {
	f.e.journal.KeyBecause(journal.ByEviction, journal.KeyEvicted, db, key)
	f.e.record.Forget(db, key)
	f.dropped(db, key)
	f.e.env.Events.Notify(command.EvictedClass, "evicted", db, key)
}

// Added announces a new key and signals the clients that are parked on it.
func (f *effects) Added(db int, key string) {
	heard := f.e.attention
	if heard&byJournal != 0 {
		f.e.journal.Key(journal.KeyAdded, db, key)
	}
	if heard&byEvents != 0 {
		f.e.env.Events.Notify(command.NewKey, "new", db, key)
	}
	if heard&byParked != 0 {
		f.e.parking.Signal(db, key)
	}
	if heard&byAwaiting != 0 {
		f.e.awaiting.changed(key)
	}
}

// Renewed announces a key that took another key's place as a new key.
func (f *effects) Renewed(db int, key string) {
	f.e.record.Forget(db, key)
	f.Added(db, key)
}

// Lost signals the clients that read the stream as consumers of a group.
func (f *effects) Lost(db int, key string) { f.e.parking.signalLost(db, key) }

// Sooner says that a key or a field expires earlier than every other one.
func (f *effects) Sooner() { f.e.timer.look() }

// Emptying makes the transactions fail that watch an existing key of the database. It
// signals the clients that read a stream as consumers of a group.
func (f *effects) Emptying(db *store.DB) {
	f.e.journal.Key(journal.Emptied, db.ID(), "")
	f.e.record.Emptied(db.ID())
	if freed := f.e.env.Config.Freed; freed != nil {
		freed()
	}
	f.e.parking.signalAllLost(db, nil)
	f.e.awaiting.stir()
	f.e.watches.spoilWhere(db.ID(), func(key string) bool {
		v, _ := db.Value(key)
		return v != nil
	})
}

// Swapped makes the transactions fail that watch a key of either database, if one of the
// databases holds the key. A missing key does not change if an expired one takes its place. It signals
// the clients that are parked on a key that exists now.
func (f *effects) Swapped(a, b *store.DB) {
	f.e.journal.Swapped(a.ID(), b.ID())
	f.e.record.Swapped(a.ID(), b.ID())
	for _, sides := range [][2]*store.DB{{a, b}, {b, a}} {
		now, before := sides[0], sides[1]
		f.e.watches.spoilWhere(now.ID(), func(key string) bool {
			was, _ := before.Value(key)
			is, live := now.Value(key)
			if live || was == nil {
				f.e.watches.setStale(now.ID(), key, is != nil && !live)
			}
			return was != nil || live
		})
		f.e.parking.signalAllLost(before, now)
	}
	// A client that waits for a lost stream and for a key that exists now gets the error.
	f.e.parking.signalPresent(a)
	f.e.parking.signalPresent(b)
	f.e.awaiting.stir()
}

// Missed announces that a command found nothing to read.
func (f *effects) Missed(db int, key []byte) {
	heard := f.e.attention
	if heard&byJournal != 0 {
		f.e.journal.Missed(db, key)
	}
	if heard&byRecord != 0 {
		f.e.record.Missed(db, key)
	}
	if heard&byEvents != 0 && f.e.env.Config.NotifyEvents&command.KeyMiss != 0 {
		f.e.env.Events.Notify(command.KeyMiss, "keymiss", db, string(key))
	}
}
