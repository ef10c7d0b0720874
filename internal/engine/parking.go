package engine

import (
	"container/list"
	"slices"
	"unsafe"

	"github.com/lockredis/lockredis/expiry"
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/heapsize"
	"github.com/lockredis/lockredis/internal/journal"
	"github.com/lockredis/lockredis/internal/shrink"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

// parking holds the blocking commands that wait: a queue of clients for each key, in
// arrival order, and an index of all their deadlines.
//
// A parked command is state, not a goroutine. The goroutine of its client continues to read, so
// it sees the connection's end at once. It buffers pipelined commands up to the query buffer's
// limit. The unit that serves the client, or the timer, queues the reply and wakes the
// connection.
//
// A command that creates, grows or destroys a key gives a signal. When the unit
// ends, serveReady offers every signalled key to its queue.
type parking struct {
	queues    map[watchedKey]*queue
	peak      int // of queues, see shrink.Delete
	places    map[*command.Parked][]place
	deadlines expiry.Index[*command.Parked]
	ready     []watchedKey // signalled in this unit, and clients wait for them
	streams   int          // how many clients wait in XREAD or XREADGROUP
	bytes     int64        // estimated memory of the names that clients wait for

	e *Engine
}

// queue holds the *command.Parked that wait for a key.
type queue struct {
	list.List
	signalled bool // the key is in parking.ready
	missing   int  // how many of them have a Missing function
}

// place is a parked command's place in one key's queue.
type place struct {
	key  watchedKey
	elem *list.Element
}

func (p *parking) init(e *Engine) {
	p.queues = map[watchedKey]*queue{}
	p.places = map[*command.Parked][]place{}
	p.e = e
}

// Signal marks a key that has changed: its clients may be served when the unit
// ends.
func (p *parking) Signal(db int, key string) {
	if len(p.queues) == 0 {
		return
	}
	k := watchedKey{db, key}
	if q := p.queues[k]; q != nil && !q.signalled {
		q.signalled = true
		p.ready = append(p.ready, k)
	}
}

// signalLost marks a key that held a stream. Clients that wait for the end of the stream are
// served. A client of XREAD is not, but if the same unit makes the key anew, this is when its
// turn came. As in Redis, the signal is given only if a client reads a stream, of any key: then
// SORT … STORE that overwrites the stream serves the clients of BLPOP, too, and else it does not.
func (p *parking) signalLost(db int, key string) {
	if p.streams > 0 {
		p.Signal(db, key)
	}
}

// readsStream reports whether a client waits in XREAD or XREADGROUP.
func readsStream(parked *command.Parked) bool {
	return parked.Cmd != nil && parked.Cmd.Group == "stream"
}

// signalAllLost calls signalLost for every key that holds a stream in before and not in now.
// The keys have now's number. now is nil if before is emptied. It does so in name order.
func (p *parking) signalAllLost(before, now *store.DB) {
	id := before.ID()
	if now != nil {
		id = now.ID()
	}
	isStream := func(db *store.DB, key string) bool {
		v, _ := db.Value(key)
		_, is := v.(*store.Stream)
		return is
	}
	var lost []string
	for k, q := range p.queues {
		if k.db == id && q.missing > 0 && isStream(before, k.key) &&
			(now == nil || !isStream(now, k.key)) {
			lost = append(lost, k.key)
		}
	}
	slices.Sort(lost)
	for _, key := range lost {
		p.Signal(id, key)
	}
}

// signalPresent signals every key of db that clients wait for and that is there, after
// SWAPDB. It does so in name order, so that serving them is deterministic.
func (p *parking) signalPresent(db *store.DB) {
	var present []string
	for k := range p.queues {
		if k.db != db.ID() {
			continue
		}
		if _, live := db.Value(k.key); live {
			present = append(present, k.key)
		}
	}
	slices.Sort(present)
	for _, key := range present {
		p.Signal(db.ID(), key)
	}
}

// Park adds the session of parked to the end of each key's queue, unless parked only looks at its
// keys. A key that is named twice counts once.
func (p *parking) Park(parked *command.Parked) {
	if parked.Looks {
		p.places[parked] = []place{}
		p.e.awaiting.add(parked)
	} else {
		p.places[parked] = p.enqueue(parked)
	}
	p.bytes += parked.Bytes
	if readsStream(parked) {
		p.streams++
	}
	if parked.Deadline > 0 {
		p.deadlines.Add(parked, parked.Deadline)
		p.e.timer.look()
	}
	parked.Session.Parked = parked
	parked.Session.Move(command.Waiting)
}

// enqueue adds a parked command to the queues of its keys, and returns its places.
func (p *parking) enqueue(parked *command.Parked) []place {
	places := make([]place, 0, len(parked.Keys))
	for _, key := range parked.Keys {
		k := watchedKey{parked.DB, key}
		q := p.queues[k]
		if q == nil {
			q = &queue{}
			if p.queues[k] = q; len(p.queues) == 1 {
				p.e.attend()
			}
		} else if last := q.Back(); last != nil && last.Value == parked {
			continue
		}
		p.bytes += waitBytes(key, q.Len() == 0)
		if parked.Missing != nil {
			q.missing++
		}
		places = append(places, place{k, q.PushBack(parked)})
	}
	return places
}

// waitBytes estimates the memory of a name that a client waits for. alone means that no other
// client waits for it.
func waitBytes(key string, alone bool) int64 {
	n := heapsize.Text(len(key)) + int(unsafe.Sizeof(key)) + int(unsafe.Sizeof(place{})) +
		heapsize.Pointers[list.Element](1)
	if alone {
		n += heapsize.Pointers[queue](1) + heapsize.MapEntry[watchedKey, *queue]()
	}
	return int64(n)
}

// keepLine keeps a copy of a parked command's line: others are told of it when it is served. It counts
// the bytes of the copy, and of the line that SLOWLOG would show.
func (p *parking) keepLine(parked *command.Parked, line resp.Args) {
	parked.Args = line.Clone()
	bytes := heapsize.Text(line.Bytes()) + heapsize.Pointers[[]byte](len(line))
	bytes += heapsize.Pointers[string](len(parked.Line))
	for _, arg := range parked.Line {
		bytes += heapsize.Text(len(arg))
	}
	parked.Bytes += int64(bytes)
	p.bytes += int64(bytes)
}

// remove takes a parked command out of its queues. Its session is Ready again.
func (p *parking) remove(parked *command.Parked) {
	p.deadlines.Remove(parked)
	for _, at := range p.places[parked] {
		q := p.queues[at.key]
		q.Remove(at.elem)
		if parked.Missing != nil {
			q.missing--
		}
		p.bytes -= waitBytes(at.key.key, q.Len() == 0)
		if q.Len() == 0 {
			if shrink.Delete(&p.queues, at.key, &p.peak); len(p.queues) == 0 {
				p.e.attend()
			}
		}
	}
	p.bytes -= parked.Bytes
	delete(p.places, parked)
	if parked.Looks {
		p.e.awaiting.remove(parked)
	}
	if readsStream(parked) {
		p.streams--
	}
	parked.Session.Parked = nil
	parked.Session.Move(command.Ready)
}

// Unpark ends a session's wait with r and reports whether it waited.
func (p *parking) Unpark(s *command.Session, r resp.Reply) bool {
	if s.Parked == nil {
		return false
	}
	if r.IsError() {
		p.e.errors.failed(s.Parked.Cmd, r)
	}
	p.end(s.Parked, r)
	return true
}

// Unblock ends the wait of s with r, as CLIENT UNBLOCK by c's client. Redis counts every command
// that is unblocked as failed, and CLIENT UNBLOCK if r is an error.
func (p *parking) Unblock(c *command.Ctx, s *command.Session, r resp.Reply) {
	if r.IsError() {
		p.e.errors.unblocked(c.Cmd)
	} else {
		p.e.errors.unblocked(s.Parked.Cmd)
	}
	p.Unpark(s, r)
}

// end answers a parked command and wakes its connection.
func (p *parking) end(parked *command.Parked, r resp.Reply) {
	s := parked.Session
	defer func() {
		if cause := recover(); cause != nil {
			p.e.panics.disconnect("serving", s, cause)
		}
	}()
	p.remove(parked)
	p.e.replies.end(s, r)
	s.Conn.Wake()
}

// Due returns the earliest deadline, in Unix ms.
func (p *parking) Due() int64 {
	at, _ := p.deadlines.Next()
	return at
}

// Fire answers the parked commands with a deadline at or before now, in Unix ms.
func (p *parking) Fire(now int64) (more bool) {
	p.deadlines.PopDue(now, p.deadlines.Len(), func(parked *command.Parked) {
		p.Unpark(parked.Session, parked.OnTimeout)
	})
	return false
}

// Waiting returns how many clients are parked.
func (p *parking) Waiting() int { return len(p.places) }

// takeReady returns the signalled keys and forgets them.
func (p *parking) takeReady() []watchedKey {
	ready := p.ready
	p.ready = nil
	return ready
}

// serveReady offers every key that was signalled in this unit to the clients that
// are parked on it. Serving one may signal others (BLMOVE).
func (p *parking) serveReady() {
	for len(p.ready) > 0 {
		for _, k := range p.takeReady() {
			if k == stirred {
				p.e.awaiting.serve()
			} else {
				p.serveKey(k)
			}
		}
	}
}

// serveKey offers a key to its queue, once to each client, in arrival order. A missing key
// is offered only to the clients that have a Missing function.
func (p *parking) serveKey(k watchedKey) {
	q := p.queues[k]
	if q == nil {
		return
	}
	q.signalled = false
	key, db := []byte(k.key), p.e.env.Space.DB(k.db)
	for elem := q.Front(); elem != nil; {
		parked := elem.Value.(*command.Parked)
		elem = elem.Next() // serving parked takes its own element out
		serve := parked.Serve
		if db.Peek(key) == nil {
			if q.missing == 0 {
				return
			}
			serve = parked.Missing
		}
		if serve != nil {
			p.serve(parked, db, key, serve)
		}
	}
}

// serve runs a parked command again, as a unit, and ends its wait if it was served.
func (p *parking) serve(
	parked *command.Parked, db *store.DB, key []byte,
	again func(*command.Ctx, []byte) (resp.Reply, bool),
) {
	e, s := p.e, parked.Session
	c := command.Ctx{
		Env: &e.env, Session: s, Cmd: parked.Cmd, DB: db, Proto: s.Proto, From: command.FromWait,
	}
	e.journal.Unit(journal.UnitBegins)
	defer e.journal.Unit(journal.UnitEnds)
	if e.tracking.Active() {
		defer trackingDoor{door{e}}.serving(s)()
	}
	served := true // also after a panic: the wait ends
	began := e.stopwatch.Read()
	reply := e.unit.call(&c, parked.Args, func(c *command.Ctx, _ resp.Args) (reply resp.Reply) {
		reply, served = again(c, key)
		return reply
	})
	s.Written = e.replicas.Offset()
	if served {
		e.measures.Served(parked, e.stopwatch.Read()-began)
		p.end(parked, reply)
	}
}
