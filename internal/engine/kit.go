package engine

import (
	"math/rand/v2"
	"strings"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/latency"
	"github.com/lockredis/lockredis/pubsub"
)

// This file has the operations of a test kit that no client can request.

// Reseed makes every random choice of commands depend on seed only.
func (e *Engine) Reseed(seed uint64) {
	e.Outside(func() { e.env.Rand = rand.New(rand.NewPCG(seed, seed)) })
}

// Restart affects clients as a restart of the process does: it closes all connections,
// ends CLIENT PAUSE, empties the script cache and sets the statistics to 0. Unless keep is
// true, all keys and libraries of functions are gone. Directives and users stay. It waits
// until no script runs.
func (e *Engine) Restart(keep bool) {
	e.Outside(func() {
		e.sessions.Each(func(s *command.Session) bool {
			e.sessions.Kill(s)
			return true
		})
		e.pausing.Unpause()
		e.env.Scripts.Flush()
		command.ResetStats(&e.env)
		e.env.ACLLog.Reset()
		e.env.SlowLog.Reset()
		e.env.Latency = latency.Events{}
		if keep {
			return
		}
		e.env.Scripts.FlushLibraries()
		defer e.journal.because(ByKit)()
		for _, db := range e.env.Space.Opened() {
			db.Flush()
		}
	})
}

// Databases returns how many databases commands can use. It never changes.
func (e *Engine) Databases() int {
	if e.env.Cluster != nil {
		return 1
	}
	return e.env.Space.Len()
}

// ConnectionCounts returns how many connections are open, and how many there were since
// the start or CONFIG RESETSTAT, without the refused ones.
func (e *Engine) ConnectionCounts() (open, total int) {
	e.Outside(func() { open, total = e.sessions.Open(), int(e.env.Stats.Connections) })
	return open, total
}

// SetUser makes a user with one password and all rights. "" as the password removes the
// user. Connections of the user stay open.
func (e *Engine) SetUser(name, password string) {
	e.Outside(func() {
		e.env.Users.Delete(name)
		if password != "" {
			_, _ = e.env.Users.Set(name, []string{"on", ">" + password, "~*", "&*", "+@all"})
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
func (e *Engine) Listen(deliver func(pattern, channel, payload string)) *Listener {
	return &Listener{e: e, deliver: deliver}
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
