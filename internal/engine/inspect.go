package engine

import (
	"slices"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/inspect"
	"github.com/lockredis/lockredis/pubsub"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

// This file is the engine's side of the inspector and of a test kit: commands without a
// connection, the record of which scripts wrote which keys, and the deadlines of a clock that
// a test moves.

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
		use(e.callDirect(db, args))
		e.journal.unit(UnitEnds)
		e.serveReady()
	})
}

// callDirect runs RunDirect's command with a session of its own.
func (e *Engine) callDirect(db int, args resp.Args) resp.Reply {
	s := &command.Session{Addr: "direct", User: "default", DB: db, Proto: 3, Conn: noConn{}}
	s.Authenticated.Store(true)
	c := command.Ctx{
		Env: &e.env, Session: s, Cmd: e.env.Table.Find(args), DB: e.env.Space.DB(db), Proto: 3,
		From: command.FromKit,
	}
	return e.admitAndCall(&c, args)
}

// noConn is the connection of a session that has none.
type noConn struct{}

func (noConn) Write([]byte) bool                     { return true }
func (noConn) Kill()                                 {}
func (noConn) Wake()                                 {}
func (noConn) Sizes() (query, queryFree, output int) { return 0, 0, 0 }

// inspection is what the engine shows an inspector, as inspect.Engine. It records
// which scripts wrote which keys, if RecordScriptKeys was called.
type inspection struct {
	*Engine
	wrote map[watchedKey]*scriptWrites // keys that still exist; nil: not recorded
}

// scriptWrites records the scripts that wrote one key.
type scriptWrites struct {
	by    inspect.Origin // the client that ran the last script
	named []string       // the KEYS of all these scripts, each once
}

// Inspector returns the inspector of the engine's state. It knows the holders of
// locks only after RecordScriptKeys.
func (e *Engine) Inspector() *inspect.Inspector { return inspect.New(&e.inspection) }

// RecordScriptKeys makes the engine record which keys scripts write. It is called before
// Start.
func (e *Engine) RecordScriptKeys() {
	e.inspection.wrote = map[watchedKey]*scriptWrites{}
	e.ReadJournal(e.inspection.follow)
}

// follow reads the journal for the keys that scripts write.
func (i *inspection) follow(entry *Entry) {
	switch entry.Kind {
	case KeyAdded:
		delete(i.wrote, watchedKey{entry.DB, entry.Key}) // an earlier key of that name
		i.written(entry.DB, entry.Key)
	case KeyTouched:
		i.written(entry.DB, entry.Key)
	case Swapped:
		i.swap(entry.DB, entry.Other)
	}
}

// written records that the running script, if there is one, wrote a key.
func (i *inspection) written(db int, key string) {
	if !i.script.running {
		return
	}
	k := i.wrote[watchedKey{db, key}]
	if k == nil {
		k = &scriptWrites{}
		i.wrote[watchedKey{db, key}] = k
	}
	k.by = originOf(i.script.ctx.Session)
	for _, named := range i.script.keys {
		if !slices.Contains(k.named, string(named)) {
			k.named = append(k.named, string(named))
		}
	}
}

// swap moves the records of databases a and b, after SWAPDB.
func (i *inspection) swap(a, b int) {
	moved := make(map[watchedKey]*scriptWrites, len(i.wrote))
	for at, written := range i.wrote {
		switch at.db {
		case a:
			at.db = b
		case b:
			at.db = a
		}
		moved[at] = written
	}
	i.wrote = moved
}

// Space returns the databases.
func (i *inspection) Space() *store.Space { return i.env.Space }

// ScriptKeys visits the keys that scripts wrote. Some of them may no longer exist.
func (i *inspection) ScriptKeys(do func(inspect.ScriptKey)) {
	for at, k := range i.wrote {
		do(inspect.ScriptKey{DB: at.db, Key: at.key, By: k.by, Named: k.named})
	}
}

// Clients visits the parked clients and the subscribers, oldest first.
func (i *inspection) Clients(do func(inspect.Client)) {
	i.env.Clients.Each(func(s *command.Session) bool {
		if s.Parked != nil || s.Subscribed() {
			do(inspectedClient(s))
		}
		return true
	})
}

func inspectedClient(s *command.Session) inspect.Client {
	c := inspect.Client{
		Origin:        originOf(s),
		Channels:      s.Subs.Names(pubsub.Channel),
		Patterns:      s.Subs.Names(pubsub.Pattern),
		ShardChannels: s.Subs.Names(pubsub.Shard),
	}
	if p := s.Parked; p != nil {
		c.Wait = &inspect.Wait{Command: p.Cmd.Name, Deadline: p.Deadline}
		for _, key := range p.Keys {
			c.Wait.Keys = append(c.Wait.Keys, string(key))
		}
	}
	return c
}

func originOf(s *command.Session) inspect.Origin {
	return inspect.Origin{ID: s.ID, Addr: s.Addr, Name: s.Name}
}

// Subscribers returns how many clients are subscribed to a channel.
func (i *inspection) Subscribers(channel string) int {
	return i.env.PubSub.Subscribers(pubsub.Channel, channel)
}

// Publish sends a message to the subscribers of a channel.
func (i *inspection) Publish(channel, message string) {
	i.env.PubSub.Publish([]byte(channel), []byte(message), false)
}

// NextDeadline returns when a key, a blocking command's wait or a pause ends next, in Unix ms.
// ok is false when none of them will end. It is called inside the engine.
func (e *Engine) NextDeadline() (at int64, ok bool) {
	earlier := func(t int64, has bool) {
		if has && (!ok || t < at) {
			at, ok = t, true
		}
	}
	if !e.timer.passive && !e.env.Space.KeepExpired {
		earlier(e.env.Space.NextDeadline())
	}
	earlier(e.parking.deadlines.Next())
	earlier(e.pausing.until, e.pausing.until > 0)
	return at, ok
}

// EndDue ends every key, wait and pause whose deadline has come. It is called inside Outside.
func (e *Engine) EndDue() {
	for e.endDueBatch() {
	}
}
