package engine

import (
	"container/list"
	"slices"

	"github.com/lockredis/lockredis/expiry"
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

// parking is where blocking commands wait: a queue for each key, first come
// first served, and the deadlines of all.
type parking struct {
	queues    map[watchKey]*queue
	places    map[*command.Parked][]parkingSlot // where each one stands
	deadlines expiry.Index[*command.Parked]
	ready     []watchKey // keys that came into being in this unit
}

// queue is the *command.Parked that wait for a key.
type queue struct {
	list.List
	ready bool // the key is among those that came into being
}

// parkingSlot is a parked command's place in one key's queue.
type parkingSlot struct {
	key   watchKey
	place *list.Element
}

// watchKey is a key with its database's number.
type watchKey struct {
	db  int
	key string
}

func (p *parking) init() {
	p.queues = map[watchKey]*queue{}
	p.places = map[*command.Parked][]parkingSlot{}
}

// added notes that a key came into being that somebody waits for.
func (p *parking) added(db int, key string) {
	if len(p.queues) == 0 {
		return
	}
	k := watchKey{db, key}
	if q := p.queues[k]; q != nil && !q.ready {
		q.ready = true
		p.ready = append(p.ready, k)
	}
}

// swapped notes the keys that somebody waits for in a database of which other
// data have become the contents, in the order of their names.
func (p *parking) swapped(db *store.DB) {
	var there []string
	for k := range p.queues {
		if k.db != db.ID() {
			continue
		}
		if v, live := db.Holds(k.key); live && (v.Type() == store.TypeList || v.Type() == store.TypeZSet) {
			there = append(there, k.key)
		}
	}
	slices.Sort(there)
	for _, key := range there {
		p.added(db.ID(), key)
	}
}

// add queues parked behind each of its keys, if any; a key named twice counts
// once.
func (p *parking) add(parked *command.Parked) {
	seen := make(map[string]bool, len(parked.Keys))
	places := make([]parkingSlot, 0, len(parked.Keys))
	for _, key := range parked.Keys {
		if seen[string(key)] {
			continue
		}
		seen[string(key)] = true
		k := watchKey{parked.DB, string(key)}
		waiting := p.queues[k]
		if waiting == nil {
			waiting = &queue{}
			p.queues[k] = waiting
		}
		places = append(places, parkingSlot{k, waiting.PushBack(parked)})
	}
	p.places[parked] = places
	if parked.Deadline > 0 {
		p.deadlines.Add(parked, parked.Deadline)
	}
	parked.Session.Parked = parked
}

func (p *parking) remove(parked *command.Parked) {
	p.deadlines.Remove(parked)
	for _, slot := range p.places[parked] {
		waiting := p.queues[slot.key]
		waiting.Remove(slot.place)
		if waiting.Len() == 0 {
			delete(p.queues, slot.key)
		}
	}
	delete(p.places, parked)
	parked.Session.Parked = nil
}

// parkingDesk is the engine as command.Parking.
type parkingDesk Engine

// Park makes p's session wait.
func (d *parkingDesk) Park(p *command.Parked) {
	d.parking.add(p)
}

// Unpark ends a session's wait with r.
func (d *parkingDesk) Unpark(s *command.Session, r resp.Reply) bool {
	if s.Parked == nil {
		return false
	}
	(*Engine)(d).endWait(s.Parked, r)
	return true
}

// endWait answers a parked command and lets its connection go on.
func (e *Engine) endWait(p *command.Parked, r resp.Reply) {
	defer func() {
		if cause := recover(); cause != nil {
			e.disconnect("serving", p.Session, cause)
		}
	}()
	e.parking.remove(p)
	if r.IsError() {
		e.countError(r.Text())
	}
	e.endCommand(p.Session, r)
	p.Session.Conn.Wake()
}

// serveReady gives the keys that came into being in this unit to those who
// wait for them. Serving one may bring another into being (BLMOVE).
func (e *Engine) serveReady() {
	for len(e.parking.ready) > 0 {
		ready := e.parking.ready
		e.parking.ready = nil
		for _, k := range ready {
			e.serveKey(k)
		}
	}
}

// serveKey offers a key to those who wait for it, until it is gone.
func (e *Engine) serveKey(k watchKey) {
	waiting := e.parking.queues[k]
	if waiting == nil {
		return
	}
	waiting.ready = false
	key, db := []byte(k.key), e.env.Space.DB(k.db)
	for place := waiting.Front(); place != nil && db.Peek(key) != nil; {
		p := place.Value.(*command.Parked)
		place = place.Next() // p's own place ends when it is served
		c := command.Ctx{Env: &e.env, Session: p.Session, Cmd: p.Cmd, DB: db, Proto: p.Session.Proto}
		if reply, served := e.serve(p, &c, key); served {
			e.endWait(p, reply)
		}
	}
}

// endOverdueWaits answers the parked commands whose time is up.
func (e *Engine) endOverdueWaits() {
	e.parking.deadlines.PopDue(e.env.Space.Now(), e.parking.deadlines.Len(), func(p *command.Parked) {
		e.endWait(p, p.OnTimeout)
	})
}
