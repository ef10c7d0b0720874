package engine

import (
	"slices"

	"github.com/lockredis/lockredis/internal/command"
)

// awaiting has the parked commands that look at keys and subscriptions (LOCK.AWAIT). They are in no
// queue of parking: a key that is changed or deleted does not wake a client of BLPOP.
//
// A change of a key that a command looks at, and every change of subscriptions, has all commands look
// again when the unit ends. So has a deadline that a command asked for. Without such a command
// nothing is noted.
type awaiting struct {
	e       *Engine
	parked  []*command.Parked // in arrival order
	keys    map[string]int    // how many of them look at a key of that name, in some database
	stirred bool              // they look again when the unit ends
	again   int64             // when they look again at the latest, Unix ms; 0: never
}

// stirred is in parking.ready for the parked commands that look again.
var stirred = watchedKey{db: -1}

// add adds a command that is being parked.
func (a *awaiting) add(p *command.Parked) {
	if a.parked = append(a.parked, p); len(a.parked) == 1 {
		a.keys = map[string]int{}
		a.e.env.PubSub.Changed = a.stir
		a.e.attend()
	}
	for _, key := range p.Keys {
		a.keys[key]++
	}
	a.lookAt(p.Again)
}

// remove removes a command whose wait ends.
func (a *awaiting) remove(p *command.Parked) {
	a.parked = slices.DeleteFunc(a.parked, func(other *command.Parked) bool { return other == p })
	for _, key := range p.Keys {
		if a.keys[key]--; a.keys[key] == 0 {
			delete(a.keys, key)
		}
	}
	if len(a.parked) == 0 {
		a.keys, a.again, a.e.env.PubSub.Changed = nil, 0, nil
		a.e.attend()
	}
}

// lookAt has the commands look again at a time in Unix ms, if it is not 0.
func (a *awaiting) lookAt(at int64) {
	if at != 0 && (a.again == 0 || at < a.again) {
		a.again = at
		a.e.timer.look()
	}
}

// changed follows a change of a key.
func (a *awaiting) changed(key string) {
	if a.keys[key] > 0 {
		a.stir()
	}
}

// stir has the commands look again when the unit ends.
func (a *awaiting) stir() {
	if !a.stirred && len(a.parked) > 0 {
		a.stirred = true
		a.e.parking.ready = append(a.e.parking.ready, stirred)
	}
}

// unitEnds ends a unit that is no command, and that may have ended subscriptions.
func (a *awaiting) unitEnds() {
	if !a.e.midway && len(a.e.parking.ready) > 0 {
		a.e.parking.serveReady()
	}
}

// serve has the commands look again.
func (a *awaiting) serve() {
	a.stirred, a.again = false, 0
	for _, p := range slices.Clone(a.parked) {
		if p.Session.Parked != p {
			continue
		}
		a.e.parking.serve(p, a.e.env.Space.DB(p.DB), nil, p.Serve)
		if p.Session.Parked == p {
			a.lookAt(p.Again)
		}
	}
}

// Due returns when the commands look again, in Unix ms; 0: never.
func (a *awaiting) Due() int64 { return a.again }

// Fire has them look again.
func (a *awaiting) Fire(int64) (more bool) {
	a.again = 0
	a.stir()
	return false
}
