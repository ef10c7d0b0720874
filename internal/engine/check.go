package engine

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/pubsub"
)

// Check returns an error when what the engine keeps contradicts itself: keys
// and deadlines, subscriptions, parked commands, watched keys, sessions. It is
// called inside Outside, looks at everything, and is for tests.
func (e *Engine) Check() error {
	if err := e.env.Space.Check(); err != nil {
		return err
	}
	subs := make(map[pubsub.Sink]*pubsub.Subscriptions, e.sessions.open)
	for s := range e.sessions.Each {
		subs[s] = &s.Subs
	}
	if err := e.sessions.checkSeats(); err != nil {
		return err
	}
	if err := e.env.PubSub.Check(subs); err != nil {
		return err
	}
	if err := e.parking.checkQueues(&e.sessions); err != nil {
		return err
	}
	if err := e.checkWatched(); err != nil {
		return err
	}
	return e.checkTimer()
}

// checkTimer tells whether the timer would fire in time.
func (e *Engine) checkTimer() error {
	if at, ok := e.NextDeadline(); ok && (e.timer.armed == 0 || e.timer.armed > at) {
		return fmt.Errorf("engine: the next deadline is %d, and the timer is set to %d", at, e.timer.armed)
	}
	return nil
}

func (l *sessions) checkSeats() error {
	open, last := 0, int64(0)
	for _, at := range l.order {
		if at.id <= last || at.id >= l.next {
			return fmt.Errorf("engine: session %d follows %d", at.id, last)
		}
		if last = at.id; at.s == nil {
			continue
		}
		if open++; at.s.ID != at.id || at.s.State() == command.Gone {
			return fmt.Errorf("engine: session %d is listed as %d, or has left", at.s.ID, at.id)
		}
	}
	if open != l.open {
		return fmt.Errorf("engine: %d seats are taken by %d sessions", open, l.open)
	}
	return nil
}

func (p *parking) checkQueues(sessions *sessions) error {
	if err := p.deadlines.Check(); err != nil {
		return err
	}
	if len(p.ready) > 0 {
		return errors.New("engine: keys that nobody was served from")
	}
	slots, deadlines := 0, 0
	for parked, places := range p.places {
		if s := parked.Session; s.Parked != parked || sessions.ByID(s.ID) != s {
			return fmt.Errorf("engine: session %d does not know that it is parked, or has left", s.ID)
		}
		if parked.Deadline > 0 {
			deadlines++
		}
		for _, at := range places {
			if at.elem.Value != parked {
				return errors.New("engine: a place in a queue that is another's")
			}
		}
		slots += len(places)
	}
	if deadlines != p.deadlines.Len() {
		return fmt.Errorf("engine: %d waits have a deadline, and there are %d deadlines", deadlines, p.deadlines.Len())
	}
	for s := range sessions.Each {
		if s.Parked != nil && p.places[s.Parked] == nil {
			return fmt.Errorf("engine: session %d takes itself to be parked", s.ID)
		}
	}
	for key, queue := range p.queues {
		if queue.Len() == 0 {
			return fmt.Errorf("engine: nobody waits for %q", key.key)
		}
		slots -= queue.Len()
	}
	if slots != 0 {
		return fmt.Errorf("engine: %d places more than there are in queues", slots)
	}
	return nil
}

func (e *Engine) checkWatched() error {
	entries := 0
	for key, list := range e.watches.index {
		if len(list) == 0 {
			return fmt.Errorf("engine: nobody watches %q", key.key)
		}
		for _, s := range list {
			if e.sessions.ByID(s.ID) != s || !slices.Contains(s.Watched, command.WatchedKey{DB: key.db, Key: key.key}) {
				return fmt.Errorf("engine: session %d watches %q and does not know, or has left", s.ID, key.key)
			}
		}
		entries += len(list)
	}
	for s := range e.sessions.Each {
		entries -= len(s.Watched)
	}
	if entries != 0 {
		return fmt.Errorf("engine: %d watched keys that only one side knows", entries)
	}
	return nil
}
