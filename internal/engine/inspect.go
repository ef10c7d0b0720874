package engine

import (
	"slices"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/inspect"
	"github.com/lockredis/lockredis/pubsub"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

// What a test kit sees and does beyond the wire: commands without a
// connection, who wrote what, and time that is turned by hand.

// Outside runs unit as the only one inside the engine, never halfway through a
// script, at the time that the clock shows.
func (e *Engine) Outside(unit func()) {
	e.Do(&Caller{timer: true}, func() {
		e.tick()
		unit()
	})
}

// Call runs a command on database db without a connection and passes its reply
// to use, inside the engine: the reply is valid until use returns. CLIENT PAUSE,
// maxmemory and passwords do not apply, and a blocking command answers as if its
// time were up. A command that is about its connection (MULTI, SUBSCRIBE, AUTH)
// is refused with an error reply.
func (e *Engine) Call(db int, args resp.Args, use func(resp.Reply)) {
	e.Outside(func() {
		use(e.callDirect(db, args))
		e.serveReady()
	})
}

func (e *Engine) callDirect(db int, args resp.Args) resp.Reply {
	cmd := e.env.Table.Find(args)
	switch {
	case cmd == nil:
		return e.unknown(args)
	case !cmd.ArityOK(len(args)):
		return resp.ErrArity(cmd.Name)
	case aboutConnection(cmd):
		return errNoConnection(cmd.Name)
	}
	s := &command.Session{Addr: "direct", User: "default", Authenticated: true, DB: db, Proto: 3, Conn: noConn{}}
	c := command.Ctx{Env: &e.env, Session: s, Cmd: cmd, DB: e.env.Space.DB(db), Proto: 3, DenyBlocking: true}
	return e.call(&c, args)
}

func aboutConnection(cmd *command.Command) bool {
	switch cmd.Group {
	case "transactions":
		return true
	case "connection", "pubsub": // but not PING and PUBLISH, or CLIENT KILL
		return cmd.Has(command.NoScript) && !cmd.Has(command.Admin)
	}
	return false
}

// noConn is the connection of a session that has none.
type noConn struct{}

func (noConn) Write([]byte) bool                     { return true }
func (noConn) Kill()                                 {}
func (noConn) Wake()                                 {}
func (noConn) Sizes() (query, queryFree, output int) { return 0, 0, 0 }

// scriptKeys records who wrote the keys that scripts wrote and that still exist. The
// engine's is nil unless RecordScriptKeys was called.
type scriptKeys struct{ wrote map[watchKey]*scriptWrites }

// scriptWrites records the scripts that wrote one key.
type scriptWrites struct {
	by    inspect.Origin // the client that ran the last one
	named []string       // all their KEYS, each once
}

// RecordScriptKeys has the engine record which keys scripts write, until the server
// ends. It is called before Start.
func (e *Engine) RecordScriptKeys() { e.keys = &scriptKeys{wrote: map[watchKey]*scriptWrites{}} }

// wroteKey notes a key that the running script wrote.
func (e *Engine) wroteKey(db int, key string) {
	k := e.keys.wrote[watchKey{db, key}]
	if k == nil {
		k = &scriptWrites{}
		e.keys.wrote[watchKey{db, key}] = k
	}
	s := e.script.ctx.Session
	k.by = originOf(s)
	for _, named := range e.script.keys {
		if !slices.Contains(k.named, string(named)) {
			k.named = append(k.named, string(named))
		}
	}
}

// swap follows SWAPDB.
func (k *scriptKeys) swap(a, b int) {
	moved := make(map[watchKey]*scriptWrites, len(k.wrote))
	for at, written := range k.wrote {
		switch at.db {
		case a:
			at.db = b
		case b:
			at.db = a
		}
		moved[at] = written
	}
	k.wrote = moved
}

// Inspector returns the inspector of the engine's state. It knows the holders of locks only
// after RecordScriptKeys.
func (e *Engine) Inspector() *inspect.Inspector { return inspect.New(inspected{e}) }

// inspected is the engine as inspect.Engine.
type inspected struct{ *Engine }

// Space returns the databases.
func (i inspected) Space() *store.Space { return i.env.Space }

// ScriptKeys visits the keys that scripts wrote. Keys that no longer exist may be among
// them.
func (i inspected) ScriptKeys(do func(inspect.ScriptKey)) {
	if i.keys == nil {
		return
	}
	for at, k := range i.keys.wrote {
		do(inspect.ScriptKey{DB: at.db, Key: at.key, By: k.by, Named: k.named})
	}
}

// Clients visits the clients that wait or listen, oldest first.
func (i inspected) Clients(do func(inspect.Client)) {
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
func (i inspected) Subscribers(channel string) int {
	return i.env.PubSub.Subscribers(pubsub.Channel, channel)
}

// Publish sends a message to the subscribers of a channel.
func (i inspected) Publish(channel, message string) {
	i.env.PubSub.Publish([]byte(channel), []byte(message), false)
}

// NextDeadline returns when something ends next, in Unix ms: a key's lease, a
// wait or a pause; ok is false when nothing will. It is called inside Outside.
func (e *Engine) NextDeadline() (at int64, ok bool) {
	earlier := func(t int64, has bool) {
		if has && (!ok || t < at) {
			at, ok = t, true
		}
	}
	if !e.noActive && !e.env.Space.KeepExpired {
		earlier(e.env.Space.NextDeadline())
	}
	earlier(e.parking.deadlines.Next())
	earlier(e.pause.until, e.pause.until > 0)
	return at, ok
}

// EndDue ends all that is due by the clock. It is called inside Outside.
func (e *Engine) EndDue() {
	for e.runDue() {
	}
}
