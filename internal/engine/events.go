package engine

import (
	"strconv"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/store"
)

// observer is the engine as store.Observer.
type observer Engine

// Touched spoils transactions that watch the key.
func (o *observer) Touched(db int, key string) {
	e := (*Engine)(o)
	if e.keys != nil && e.script.running {
		e.wroteKey(db, key)
	}
	e.touched(db, key)
}

// Expired announces the end of a key.
func (o *observer) Expired(db int, key string) {
	o.env.Events.Notify(command.ExpiredClass, "expired", db, key)
}

// Added announces a new key and finds those who wait for it.
func (o *observer) Added(db int, key string, t store.Type) {
	if o.keys != nil { // what was known is of an earlier key
		delete(o.keys.wrote, watchKey{db, key})
		if o.script.running {
			(*Engine)(o).wroteKey(db, key)
		}
	}
	o.env.Events.Notify(command.NewKey, "new", db, key)
	if t == store.TypeList || t == store.TypeZSet {
		o.parking.added(db, key)
	}
}

// Emptying spoils transactions that watch a key of the database.
func (o *observer) Emptying(db *store.DB) {
	(*Engine)(o).touchedIn(db.ID(), func(key string) bool {
		v, _ := db.Holds(key)
		return v != nil
	})
}

// Swapped spoils transactions that watch a key which was there or is now, and
// finds those who wait for one that is.
func (o *observer) Swapped(a, b *store.DB) {
	e := (*Engine)(o)
	for _, sides := range [][2]*store.DB{{a, b}, {b, a}} {
		now, before := sides[0], sides[1]
		e.touchedIn(now.ID(), func(key string) bool {
			was, _ := before.Holds(key)
			is, _ := now.Holds(key)
			return was != nil || is != nil
		})
		e.parking.swapped(now)
	}
	if e.keys != nil {
		e.keys.swap(a.ID(), b.ID())
	}
}

// Missed announces that a command found nothing to read.
func (o *observer) Missed(db int, key []byte) {
	o.env.Events.Notify(command.KeyMiss, "keymiss", db, string(key))
}

// events is the engine as command.Events.
type events Engine

// Notify publishes a keyspace event on its two channels, as far as
// notify-keyspace-events asks for them.
func (v *events) Notify(class command.Class, event string, db int, key string) {
	want := v.env.Config.NotifyEvents
	if want&class == 0 || v.env.PubSub.Idle() {
		return
	}
	(*Engine)(v).publish(want, event, db, key)
}

// Renewed announces an overwritten key as a new one, also to those who wait for it.
func (v *events) Renewed(db *store.DB, e *store.Entry) {
	(*observer)(v).Added(db.ID(), e.Key(), e.Value().Type())
}

// publish sends an event out. A panic is neither the command's fault nor to keep
// it from its work.
func (e *Engine) publish(want command.Class, event string, db int, key string) {
	defer func() {
		if cause := recover(); cause != nil {
			e.panicked("an event", nil, cause)
		}
	}()
	number := strconv.Itoa(db)
	if want&command.Keyspace != 0 {
		e.env.PubSub.Publish([]byte("__keyspace@"+number+"__:"+key), []byte(event), false)
	}
	if want&command.Keyevent != 0 {
		e.env.PubSub.Publish([]byte("__keyevent@"+number+"__:"+event), []byte(key), false)
	}
}
