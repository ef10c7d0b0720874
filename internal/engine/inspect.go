package engine

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/inspect"
	"github.com/lockredis/lockredis/pubsub"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

// This file is the engine's side of the inspector and of a test kit: commands without a
// connection, what the inspector may see, and the deadlines of a clock that a test moves.

// Outside runs unit inside the engine, alone and never in the middle of a script. The unit's
// time is the clock's present time. It must not be called inside the engine.
func (e *Engine) Outside(unit func()) {
	e.Do(&Caller{background: true}, func() {
		e.readClock()
		unit()
	})
}

// RunDirect runs a command on database db without a connection. It passes the reply to
// use, inside the engine. The reply is valid until use returns. CLIENT PAUSE, maxmemory
// and passwords do not apply. A blocking command answers as if its timeout had ended. A
// command about its connection (MULTI, SUBSCRIBE, AUTH) gets an error reply.
func (e *Engine) RunDirect(db int, args resp.Args, use func(resp.Reply)) {
	e.Outside(func() {
		e.journal.unit(UnitBegins)
		s := &command.Session{Addr: "direct", DB: db, Proto: 3, Conn: noConn{}}
		s.Authenticated.Store(true)
		c := command.Ctx{
			Env: &e.env, Session: s, Cmd: e.env.Table.Find(args), DB: e.env.Space.DB(db), Proto: 3,
			From: command.FromKit,
		}
		v, refusal := e.checks.fromKit(&c, args)
		use(e.unit.run(&c, args, v, refusal))
		e.journal.unit(UnitEnds)
		e.parking.serveReady()
	})
}

// noConn is the connection of a session that has none.
type noConn struct{}

func (noConn) Write([]byte) bool                 { return true }
func (noConn) Kill()                             {}
func (noConn) Wake()                             {}
func (noConn) Sizes(bool) (none command.Buffers) { return none }

// inspection is what the engine shows an inspector, as inspect.Engine.
type inspection struct{ *Engine }

// Inspector returns the inspector of the engine's state. It knows the holders of
// locks only after RecordScriptKeys.
func (e *Engine) Inspector() *inspect.Inspector { return e.inspector }

// Space returns the databases.
func (i inspection) Space() *store.Space { return i.env.Space }

// ScriptKeys visits the keys that scripts wrote.
func (i inspection) ScriptKeys(do func(inspect.ScriptKey)) {
	for db, keys := range i.record.dbs {
		for key, k := range keys {
			if k.byScript {
				do(i.record.shown(db, key, k))
			}
		}
	}
}

// ScriptKey returns what is known of a key. ok is false if no script wrote it.
func (i inspection) ScriptKey(db int, key string) (k inspect.ScriptKey, ok bool) {
	if !i.record.on {
		return k, false
	}
	found := i.record.dbs[db][key]
	if found == nil || !found.byScript {
		return k, false
	}
	return i.record.shown(db, key, found), true
}

func (r *record) shown(db int, key string, k *written) inspect.ScriptKey {
	return inspect.ScriptKey{DB: db, Key: key, By: k.by, Hints: *r.noted(k), Entries: &k.entries}
}

// NewStrings visits the strings that were set on condition.
func (i inspection) NewStrings(do func(inspect.NewString)) {
	for db, keys := range i.record.dbs {
		for key, k := range keys {
			if s := k.fresh; s != nil {
				do(inspect.NewString{DB: db, Key: key, Value: s.value, Since: s.since, By: s.by, Named: s.named})
			}
		}
	}
}

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
		Origin:        originOf(s),
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

func originOf(s *command.Session) inspect.Origin {
	return inspect.Origin{ID: s.ID, Addr: s.Addr, Name: s.Name}
}

// Publish sends a message to the subscribers of a channel.
func (i inspection) Publish(channel, message string) {
	i.env.PubSub.Publish([]byte(channel), []byte(message), false)
}

// NextDeadline returns when the timer has something to do next, in Unix ms: a key, a wait or a pause
// ends, or a save point is reached. ok is false if it has nothing to do. It is called inside the engine.
func (e *Engine) NextDeadline() (at int64, ok bool) {
	e.env.Space.NextDeadline() // makes the bound exact
	at = e.timer.next()
	return max(at, e.env.Space.Now()), at != 0
}

// EndDue ends every key, wait and pause whose deadline has come. It is called inside Outside.
func (e *Engine) EndDue() {
	for e.timer.endDue() {
	}
}
