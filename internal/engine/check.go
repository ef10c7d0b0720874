package engine

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/pubsub"
)

// Check returns an error when the engine's state contradicts itself: keys and
// deadlines, subscriptions, parked commands, watched keys, sessions. It is called inside
// Outside. It is for tests, because it walks all of the state.
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
	if err := e.watches.check(&e.sessions); err != nil {
		return err
	}
	if err := e.sessions.checkQueued(e.env.Queued); err != nil {
		return err
	}
	if err := e.tracking.Check(); err != nil {
		return err
	}
	if err := e.record.Check(); err != nil {
		return err
	}
	if err := e.measures.Check(); err != nil {
		return err
	}
	if want := attended(e); e.attention != want {
		return fmt.Errorf("engine: commands pay attention to %b instead of %b", e.attention, want)
	}
	return e.timer.check()
}

// check checks that the timer fires at the next deadline or earlier.
func (t *timer) check() error {
	at, ok := t.e.NextDeadline()
	if armed := t.armed; ok && (armed == 0 || armed > at) {
		return fmt.Errorf("engine: the next deadline is %d, but the timer is armed for %d", at, armed)
	}
	return nil
}

// checkSeats checks the order of the ids, the states of the sessions and their number.
func (l *sessions) checkSeats() error {
	open, last := 0, int64(0)
	for _, at := range l.order {
		if at.id <= last || at.id >= l.next {
			return fmt.Errorf("engine: session list: id %d comes after id %d", at.id, last)
		}
		if last = at.id; at.s == nil {
			continue
		}
		if open++; at.s.ID != at.id || at.s.State() == command.Gone {
			return fmt.Errorf("engine: session list: id %d holds session %d in state %d",
				at.id, at.s.ID, at.s.State())
		}
	}
	if open != l.open {
		return fmt.Errorf("engine: session list: %d seats are taken, %d are counted", open, l.open)
	}
	return nil
}

// checkQueues checks the queues, the places and the deadlines of parked commands against each
// other and against the sessions.
func (p *parking) checkQueues(sessions *sessions) error {
	if err := p.deadlines.Check(); err != nil {
		return err
	}
	if len(p.ready) > 0 {
		return errors.New("engine: a signalled key was not offered to its queue")
	}
	slots, deadlines := 0, 0
	for parked, places := range p.places {
		if s := parked.Session; s.Parked != parked || sessions.ByID(s.ID) != s {
			return fmt.Errorf("engine: session %d has queue places, but is not parked or has left", s.ID)
		}
		if parked.Deadline > 0 {
			deadlines++
		}
		for _, at := range places {
			if at.elem.Value != parked {
				return fmt.Errorf("engine: the place for %q holds another session's command", at.key.key)
			}
		}
		slots += len(places)
	}
	if deadlines != p.deadlines.Len() {
		return fmt.Errorf("engine: %d parked commands have a deadline, but the index has %d",
			deadlines, p.deadlines.Len())
	}
	for s := range sessions.Each {
		if s.Parked != nil && p.places[s.Parked] == nil {
			return fmt.Errorf("engine: session %d is parked, but has no queue places", s.ID)
		}
	}
	for key, queue := range p.queues {
		if queue.Len() == 0 {
			return fmt.Errorf("engine: the queue for %q is empty", key.key)
		}
		slots -= queue.Len()
	}
	if slots != 0 {
		return fmt.Errorf("engine: there are %d more places than queue entries", slots)
	}
	bytes := p.bytes
	for key, queue := range p.queues {
		bytes -= waitBytes(key.key, true) + int64(queue.Len()-1)*waitBytes(key.key, false)
	}
	for parked := range p.places {
		bytes -= parked.Bytes
	}
	if bytes != 0 {
		return fmt.Errorf("engine: %d bytes too many are counted for the names that clients wait for", bytes)
	}
	return nil
}

// check checks the index of watched keys against the sessions.
func (w *watches) check(sessions *sessions) error {
	entries, bytes := 0, int64(0)
	for key, list := range w.index {
		if len(list) == 0 {
			return fmt.Errorf("engine: the list of sessions that watch %q is empty", key.key)
		}
		for _, s := range list {
			watched := func(w command.WatchedKey) bool { return w.DB == key.db && w.Key == key.key }
			if sessions.ByID(s.ID) != s || !slices.ContainsFunc(s.Watched, watched) {
				return fmt.Errorf("engine: session %d is listed for %q, but does not watch it or has left",
					s.ID, key.key)
			}
		}
		entries += len(list)
		bytes += watchBytes(key.key, true) + int64(len(list)-1)*watchBytes(key.key, false)
	}
	for s := range sessions.Each {
		entries -= len(s.Watched)
	}
	if entries != 0 {
		return fmt.Errorf("engine: the index has %d watched keys more than the sessions", entries)
	}
	if bytes != w.bytes {
		return fmt.Errorf("engine: watched keys take %d bytes, counted as %d", bytes, w.bytes)
	}
	return nil
}

// checkQueued checks the estimated bytes of the transactions that are queued.
func (l *sessions) checkQueued(counted int64) error {
	bytes := int64(0)
	for s := range l.Each {
		if s.Multi != nil {
			bytes += s.Multi.Bytes
		}
	}
	if bytes != counted {
		return fmt.Errorf("engine: queued transactions take %d bytes, counted as %d", bytes, counted)
	}
	return nil
}
