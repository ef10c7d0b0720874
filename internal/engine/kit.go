package engine

import (
	"math/rand/v2"
	"strings"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/journal"
	"github.com/lockredis/lockredis/pubsub"
	"github.com/lockredis/lockredis/resp"
)

// Kit has the operations of a test kit that no client can request.
type Kit struct{ e *Engine }

// Kit returns the operations for a test kit.
func (e *Engine) Kit() Kit { return Kit{e} }

// session returns a session without a connection.
func (k Kit) session(db int) *command.Session {
	s := &command.Session{Addr: "direct", DB: db, Proto: 3, Conn: noConn{}}
	s.Authenticated.Store(true)
	return s
}

// direct runs a command of s as RunDirect does, inside the engine.
func (k Kit) direct(s *command.Session, args resp.Args) resp.Reply {
	c := k.ctx(s, args)
	return k.e.unit.direct(&c, args)
}

// ctx begins a command of s.
func (k Kit) ctx(s *command.Session, args resp.Args) command.Ctx {
	env := &k.e.env
	return command.Ctx{
		Env: env, Session: s, Cmd: env.Table.FindHidden(args), DB: env.Space.DB(s.DB), Proto: s.Proto,
		From: command.FromKit,
	}
}

// Reseed makes every random choice of commands depend on seed only.
func (k Kit) Reseed(seed uint64) {
	k.e.Outside(func() { k.e.env.Rand = rand.New(rand.NewPCG(seed, seed)) })
}

// Restart affects clients as a restart of the process does: it closes all connections,
// ends CLIENT PAUSE, empties the script cache and sets the statistics to 0. Unless keep is
// true, all keys and libraries of functions are gone. Directives and users stay. It waits
// until no script runs.
func (k Kit) Restart(keep bool) {
	k.e.Outside(func() {
		k.e.sessions.Each(func(s *command.Session) bool {
			k.e.sessions.Kill(s)
			return true
		})
		k.e.pausing.Unpause()
		k.e.env.Scripts.Flush()
		command.ResetStats(&k.e.env)
		k.e.env.ACLLog.Reset()
		k.e.measures.Reset()
		if keep {
			return
		}
		k.e.env.Scripts.FlushLibraries()
		defer k.e.journal.Because(journal.ByKit)()
		for _, db := range k.e.env.Space.Opened() {
			db.Flush()
		}
		k.e.replicas.Forget()
	})
}

// SetDown says to the other nodes of the cluster that this node has ended, or that it serves again. A
// replica that has ended has no link to its primary.
func (k Kit) SetDown(down bool) {
	k.e.Outside(func() { k.e.replicas.SetDown(down) })
	switch {
	case k.e.peer == nil:
	case down:
		k.e.env.Cluster.SetDown(k.e.clock.Now().UnixMilli())
	default:
		k.e.env.Cluster.SetDown(0)
	}
}

// Copies reports whether the server's keys are those of another one: it is a replica, or a node of a
// cluster that will be one when it serves again.
func (k Kit) Copies() (is bool) {
	k.e.Outside(func() {
		cl := k.e.env.Cluster
		is = k.e.replicas.Follows() || cl != nil && cl.Self().Heir != ""
	})
	return is
}

// Databases returns how many databases commands can use. It never changes.
func (k Kit) Databases() int {
	if k.e.env.Cluster != nil {
		return 1
	}
	return k.e.env.Space.Len()
}

// ConnectionCounts returns how many connections are open, and how many there were since
// the start or CONFIG RESETSTAT, without the refused ones.
func (k Kit) ConnectionCounts() (open, total int) {
	k.e.Outside(func() { open, total = k.e.sessions.Open(), int(k.e.env.Stats.Connections) })
	return open, total
}

// SetUser makes a user with one password and all rights. "" as the password removes the
// user. Connections of the user stay open.
func (k Kit) SetUser(name, password string) {
	k.e.Outside(func() {
		k.e.env.Users.Delete(name)
		if password != "" {
			_, _ = k.e.env.Users.Set(name, []string{"on", ">" + password, "~*", "&*", "+@all"})
		}
	})
}

// Listener is a subscriber without a connection.
type Listener struct {
	e       *Engine
	subs    pubsub.Subscriptions
	deliver func(pattern, channel, payload string)
}

// Listen returns a subscriber without subscriptions. deliver is called inside the engine for
// each message, with the pattern that matched or "". It must not block.
func (k Kit) Listen(deliver func(pattern, channel, payload string)) *Listener {
	return &Listener{e: k.e, deliver: deliver}
}

// Deliver is pubsub.Sink's.
func (l *Listener) Deliver(m *pubsub.Message) {
	l.deliver(strings.Clone(m.Pattern), strings.Clone(m.Channel), string(m.Payload))
}

// Subscribe subscribes to a channel, or to a pattern.
func (l *Listener) Subscribe(name string, pattern bool) {
	l.e.Outside(func() { l.e.env.PubSub.Subscribe(l, &l.subs, kindOf(pattern), strings.Clone(name)) })
}

// Unsubscribe ends a subscription.
func (l *Listener) Unsubscribe(name string, pattern bool) {
	l.e.Outside(func() { l.e.env.PubSub.Unsubscribe(l, &l.subs, kindOf(pattern), name) })
}

// Names returns the channels, or the patterns, of l.
func (l *Listener) Names(pattern bool) (names []string) {
	l.e.Outside(func() { names = l.subs.Names(kindOf(pattern)) })
	return names
}

// Close ends all subscriptions.
func (l *Listener) Close() { l.e.Outside(func() { l.e.env.PubSub.Close(l, &l.subs) }) }

func kindOf(pattern bool) pubsub.Kind {
	if pattern {
		return pubsub.Pattern
	}
	return pubsub.Channel
}
