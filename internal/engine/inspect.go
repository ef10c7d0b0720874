package engine

import (
	"time"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/inspect"
	"github.com/lockredis/lockredis/internal/record"
	"github.com/lockredis/lockredis/pubsub"
	"github.com/lockredis/lockredis/store"
)

// This file is what the engine shows an inspector.

// inspection is what the engine shows an inspector, as inspect.Engine.
type inspection struct{ *Engine }

// RecordScriptKeys makes the engine record which keys scripts write, and when subscriptions
// begin. It is called before Start. A second call has no effect.
func (e *Engine) RecordScriptKeys() {
	if e.record != nil {
		return
	}
	e.record = record.New(e.inspector, e.env.Space)
	e.env.PubSub.Now = e.env.Space.Now
	e.env.PubSub.Heard = func(sink pubsub.Sink, channel string, began bool, left int) {
		if s, ok := sink.(*command.Session); ok {
			e.record.Listens(s, channel, began, left)
		}
	}
	e.reportMisses()
	e.attend()
}

// Inspector returns the inspector of the engine's state. It knows the holders of
// locks only after RecordScriptKeys.
func (e *Engine) Inspector() *inspect.Inspector { return e.inspector }

// Space returns the databases.
func (i inspection) Space() *store.Space { return i.env.Space }

// ScriptKeys visits the keys that scripts wrote.
func (i inspection) ScriptKeys(do func(inspect.ScriptKey)) { i.record.ScriptKeys(do) }

// ScriptKey returns what is known of a key. ok is false if no script wrote it.
func (i inspection) ScriptKey(db int, key string) (k inspect.ScriptKey, ok bool) {
	return i.record.ScriptKey(db, key)
}

// NewStrings visits the strings that were set on condition.
func (i inspection) NewStrings(do func(inspect.NewString)) { i.record.NewStrings(do) }

// NewString returns what is known of a key. ok is false if it was not set on condition.
func (i inspection) NewString(db int, key string) (n inspect.NewString, ok bool) {
	return i.record.NewString(db, key)
}

// History returns which owners have acquired locks last.
func (i inspection) History() *inspect.History { return i.record.History() }

// Asks returns the owners that asked for a lock and were refused.
func (i inspection) Asks(db int, name string) inspect.Asks { return i.record.Asks(db, name) }

// BeginProbe has asks for permits be recorded until end is called.
func (i inspection) BeginProbe(db int, name string) (number int64, end func()) {
	return i.record.BeginProbe(db, name)
}

// Connected reports whether a client's connection is open.
func (i inspection) Connected(id int64) bool { return id == 0 || i.env.Clients.ByID(id) != nil }

// Clients visits the parked clients and the subscribers, oldest first.
func (i inspection) Clients(do func(inspect.Client)) {
	i.env.Clients.Each(func(s *command.Session) bool {
		if s.Parked != nil || s.Subs.Any() {
			do(inspectedClient(s))
		}
		return true
	})
}

func inspectedClient(s *command.Session) inspect.Client {
	c := inspect.Client{
		Origin:        record.Origin(s),
		DB:            s.DB,
		Channels:      topics(s, pubsub.Channel),
		Patterns:      topics(s, pubsub.Pattern),
		ShardChannels: topics(s, pubsub.Shard),
	}
	if p := s.Parked; p != nil {
		c.Wait = &inspect.Wait{Command: p.Cmd.Name, Since: s.LastActive, Deadline: p.Deadline}
		for _, key := range p.Keys {
			c.Wait.Keys = append(c.Wait.Keys, string(key))
		}
	}
	return c
}

func topics(s *command.Session, k pubsub.Kind) (topics []inspect.Topic) {
	for _, name := range s.Subs.Names(k) {
		topics = append(topics, inspect.Topic{Name: name, Since: s.Subs.Since(k, name)})
	}
	return topics
}

// Publish sends a message to the subscribers of a channel and of the shard channel of that name.
func (i inspection) Publish(channel, message string) (clients int) {
	name, payload := []byte(channel), []byte(message)
	return i.env.PubSub.Publish(name, payload, false) + i.env.PubSub.Publish(name, payload, true)
}

// TurnTo turns the clock to a time, unless it has passed, and calls EndDue.
func (i inspection) TurnTo(at time.Time) {
	e := i.Engine
	if by := at.Sub(e.clock.Now()); by > 0 {
		e.turning.shift(by)
	}
	e.EndDue()
}
