package engine

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
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

// Origin is a client that ran a script.
type Origin struct {
	ID         int64
	Addr, Name string // Name is CLIENT SETNAME's, perhaps ""
}

// ScriptKey is a key that a script wrote.
type ScriptKey struct {
	DB  int
	Key string
	By  Origin // whose script wrote it last
}

// scriptKeys are the keys that scripts wrote, and the keys that scripts named.
// The engine's is nil unless WatchScripts was called.
type scriptKeys struct {
	wrote map[watchKey]Origin
	named map[watchKey]struct{}
}

// WatchScripts has the engine remember which keys scripts write and which they
// name, until the server ends. It is called before Start.
func (e *Engine) WatchScripts() {
	e.keys = &scriptKeys{wrote: map[watchKey]Origin{}, named: map[watchKey]struct{}{}}
}

// wroteKey notes a key that the running script wrote.
func (e *Engine) wroteKey(db int, key string) {
	s := e.script.ctx.Session
	e.keys.wrote[watchKey{db, key}] = Origin{ID: s.ID, Addr: s.Addr, Name: s.Name}
}

// swap follows SWAPDB.
func (k *scriptKeys) swap(a, b int) {
	k.wrote, k.named = swapped(k.wrote, a, b), swapped(k.named, a, b)
}

func swapped[V any](keys map[watchKey]V, a, b int) map[watchKey]V {
	moved := make(map[watchKey]V, len(keys))
	for k, v := range keys {
		switch k.db {
		case a:
			k.db = b
		case b:
			k.db = a
		}
		moved[k] = v
	}
	return moved
}

// ScriptKeys visits the keys that a script has written since they came into
// being, in no order. Those that are gone by now may be among them. It is called
// inside Outside, after WatchScripts.
func (e *Engine) ScriptKeys(do func(ScriptKey)) {
	for k, by := range e.keys.wrote {
		do(ScriptKey{k.db, k.key, by})
	}
}

// NamedByScript reports whether a script had key among its KEYS.
func (e *Engine) NamedByScript(db int, key string) bool {
	_, named := e.keys.named[watchKey{db, key}]
	return named
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
