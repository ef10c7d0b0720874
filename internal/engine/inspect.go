package engine

import (
	"slices"

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

// ScriptKey is a key that scripts have written since it came into being.
type ScriptKey struct {
	DB    int
	Key   string
	By    Origin   // whose script wrote it last
	Named []string // KEYS of the scripts that wrote it, each once
}

// scriptKeys are the keys that scripts wrote and that are still there. The engine's
// is nil unless WatchScripts was called.
type scriptKeys struct{ wrote map[watchKey]*ScriptKey }

// WatchScripts has the engine remember which keys scripts write, until the server
// ends. It is called before Start.
func (e *Engine) WatchScripts() { e.keys = &scriptKeys{wrote: map[watchKey]*ScriptKey{}} }

// wroteKey notes a key that the running script wrote.
func (e *Engine) wroteKey(db int, key string) {
	k := e.keys.wrote[watchKey{db, key}]
	if k == nil {
		k = &ScriptKey{}
		e.keys.wrote[watchKey{db, key}] = k
	}
	s := e.script.ctx.Session
	k.By = Origin{ID: s.ID, Addr: s.Addr, Name: s.Name}
	for _, named := range e.script.keys {
		if !slices.Contains(k.Named, string(named)) {
			k.Named = append(k.Named, string(named))
		}
	}
}

// swap follows SWAPDB.
func (k *scriptKeys) swap(a, b int) {
	moved := make(map[watchKey]*ScriptKey, len(k.wrote))
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

// ScriptKeys visits the keys that a script has written since they came into
// being, in no order. Those that are gone by now may be among them. It is called
// inside Outside, after WatchScripts.
func (e *Engine) ScriptKeys(do func(ScriptKey)) {
	for at, k := range e.keys.wrote {
		do(ScriptKey{at.db, at.key, k.By, k.Named})
	}
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
