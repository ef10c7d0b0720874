package engine

import (
	"testing"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/pubsub"
)

func TestCheckFindsContradictions(t *testing.T) {
	for name, spoil := range map[string]func(e *Engine, waiter, watcher *command.Session){
		"nothing":                    nil,
		"a session under another id": func(e *Engine, s, _ *command.Session) { s.ID = 77 },
		"a subscriber without its list": func(_ *Engine, _, s *command.Session) {
			s.Subs = pubsub.Subscriptions{}
		},
		"a waiter that is not parked": func(_ *Engine, s, _ *command.Session) { s.Parked = nil },
		"a session without a seat":    func(e *Engine, _, _ *command.Session) { e.sessions.order = nil },
		"a parked command without places": func(e *Engine, s, _ *command.Session) {
			delete(e.parking.places, s.Parked)
		},
		"a wait without its deadline": func(e *Engine, s, _ *command.Session) {
			e.parking.deadlines.Remove(s.Parked)
		},
		"an empty queue": func(e *Engine, _, _ *command.Session) {
			e.parking.queues[watchedKey{0, "x"}] = &queue{}
		},
		"a watcher without its list":    func(_ *Engine, _, s *command.Session) { s.Watched = nil },
		"a watcher that is not indexed": func(e *Engine, _, _ *command.Session) { clear(e.watches.index) },
		"a timer that is late":          func(e *Engine, _, _ *command.Session) { e.timer.armed += 5 },
		"a signalled key that was not served": func(e *Engine, _, _ *command.Session) {
			e.parking.ready = append(e.parking.ready, watchedKey{0, "list"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			e, _ := newClocked(t)
			waiter, _ := connect(e)
			watcher, _ := connect(e)
			send(e, waiter, "SET", "lock", "x", "PX", "1000")
			send(e, watcher, "WATCH", "lock")
			send(e, watcher, "SUBSCRIBE", "channel")
			send(e, waiter, "BLPOP", "list", "other", "10")
			var err error
			e.Outside(func() {
				if spoil != nil {
					spoil(e, waiter, watcher)
				}
				err = e.Check()
			})
			if found := err != nil; found != (spoil != nil) {
				t.Fatal(err)
			}
		})
	}
}
