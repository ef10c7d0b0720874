package engine

import (
	"strconv"

	"github.com/lockredis/lockredis/internal/command"
)

// events publishes keyspace notifications.
type events struct {
	env      *command.Env
	panicked func(where string, s *command.Session, cause any)
}

// Notify publishes a keyspace event on the channels that notify-keyspace-events asks for.
func (v *events) Notify(class command.Class, event string, db int, key string) {
	want := v.env.Config.NotifyEvents
	if want&class == 0 || v.env.PubSub.Idle() {
		return
	}
	v.send(want, event, db, key)
}

// send publishes an event. A panic is only logged: it must not stop the command.
func (v *events) send(want command.Class, event string, db int, key string) {
	defer func() {
		if cause := recover(); cause != nil {
			v.panicked("an event", nil, cause)
		}
	}()
	number := strconv.Itoa(db)
	if want&command.Keyspace != 0 {
		v.env.PubSub.Publish([]byte("__keyspace@"+number+"__:"+key), []byte(event), false)
	}
	if want&command.Keyevent != 0 {
		v.env.PubSub.Publish([]byte("__keyevent@"+number+"__:"+event), []byte(key), false)
	}
}
