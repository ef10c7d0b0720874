package simulation

import "strconv"

func itoa[T int | int64](n T) string { return strconv.FormatInt(int64(n), 10) }

// state is the state of a client and a lock.
type state uint8

const (
	idle state = iota
	waiting
	holding
	lost // its lease ended: it releases the hold before it tries again
)

// hold is the relation of an owner and a lock. It has the stored state, which the replies
// determine, and its client's view. The client may not have received all replies.
type hold struct {
	c     *client
	l     *lock
	owner string
	field string // of the hash
	reads bool   // readWrite: it is a read hold

	// As stored.
	count int   // 0 or 1: the client counts the holds that re-enter
	until int64 // on the server's clock
	turn  int64 // fair: its deadline in the queue; 0: it is not queued

	// As believed.
	state   state
	held    int
	claim   *claim // granted
	now     *claim // of the acquisition under way
	over    *claim // lost: it is undone before the next
	trust   int64  // end of the lease, measured from when the request was sent
	lease   int64  // ms
	watched bool   // the watchdog renews it
	voided  int64  // the last unlock by force: replies to earlier requests do not count
	renewAt int64
	restUp  int64 // it takes no step before this time

	// While waiting.
	giveUp    int64
	wakeAt    int64
	lag       int64 // how long the reply took from which wakeAt was computed
	subbed    bool
	asked     bool // it has tried since it subscribed
	woken     bool
	shortened bool // the lease that it waits for was shortened since

	flight *flight
	strays int // number of copies of its requests that may still arrive
}

// claim is one acquisition. Its copies share a latch.
type claim struct {
	latch  string
	strays int // copies of its requests without an answer
	// changed: its lease was set. Then renewals have a place too.
	changed bool
}

// pollStrays is how often a waiter asks again while copies of its tries may arrive, ms.
const pollStrays = 1000

// expected is the stored hold count that the client expects.
func (h *hold) expected() int { return min(h.held, 1) }

// trusts reports whether h's client may act as the lock's owner.
func (h *hold) trusts() bool { return h.held > 0 && h.l.w.now < h.trust && !h.c.crashed }

// settled reports whether h only waits for a message or for time.
func (h *hold) settled() bool {
	return h.state == waiting && h.subbed && h.asked && !h.woken && h.flight == nil && !h.c.crashed &&
		!h.c.sub.deaf && !h.c.sub.dead &&
		h.wakeAt > h.l.w.now
}

func (h *hold) ready() bool {
	now := h.l.w.now
	switch {
	case h.flight != nil:
		return true
	case h.state == waiting:
		return h.woken || !h.asked || now >= h.wakeAt || now >= h.giveUp || h.c.sub.deaf || h.c.sub.dead
	}
	return now >= h.restUp || h.state == holding && (now >= h.trust || h.watched && now >= h.renewAt)
}

func (h *hold) due() int64 {
	switch h.state {
	case waiting:
		return min(h.wakeAt, h.giveUp)
	case holding:
		if h.watched && h.renewAt > h.l.w.now {
			return h.renewAt
		}
		return h.trust
	}
	return h.restUp
}

// do sends a request about the lock. c, which may be nil, counts its copies.
func (h *hold) do(d *random, k *call, c *claim, done func(any, int64), unknown func()) {
	h.flight = &flight{c: h.c, call: k, sent: h.l.w.now, done: done, unknown: unknown}
	h.launch(d, c)
}

func (h *hold) launch(d *random, c *claim) {
	if c != nil {
		h.flight.strays = &c.strays
	}
	if h.flight.transmit(d) {
		h.land()
	}
}

func (h *hold) land() {
	f := h.flight
	h.flight = nil
	f.done(f.reply, f.sent)
}

// fly continues a request in progress.
func (h *hold) fly(d *random) {
	answered, over := h.flight.proceed(d)
	switch {
	case answered:
		h.land()
	case over:
		f := h.flight
		h.flight = nil
		h.l.w.count("given up")
		f.unknown()
	}
}

// step does what must be done first, whatever the client wants next, and reports
// whether there was anything.
func (h *hold) step(d *random) bool {
	now := h.l.w.now
	switch {
	case h.flight != nil:
		h.fly(d)
	case h.state == lost:
		h.clean(d)
	case h.state == waiting:
		h.wait(d)
	case h.state == holding && now >= h.trust && !d.in(20):
		h.lose()
	case h.state == holding && h.watched && now >= h.renewAt && d.in(90):
		h.renew(d)
	default:
		return false
	}
	return true
}

// acquire tries to acquire the lock. patience is how long to wait for it, 0 for a
// single try.
func (h *hold) acquire(d *random, lease int64, watched bool, patience int64) {
	h.giveUp = h.l.w.now + patience
	h.lease, h.watched = max(lease, h.keptLease()), watched || h.watched && h.held > 0
	h.now = &claim{latch: h.l.latch()}
	h.ask(d, patience > 0)
}

// enter enters a hold again. That needs no request, except to make the lease longer.
func (h *hold) enter(d *random) {
	h.l.w.count("entered again")
	h.held++
	if d.in(20) && !h.watched {
		h.setLease(d, h.lease*2)
	}
}

// keptLease returns the lease that locking again does not shorten.
func (h *hold) keptLease() int64 {
	if h.held > 0 {
		return h.lease
	}
	return 0
}

// copyKind returns the argument of the acquire script that says which checks it can skip.
func (h *hold) copyKind() string {
	switch {
	case h.now.strays > 0:
		return copyAgain
	case h.state == waiting:
		return copyWoken
	}
	return copyFirst
}

func (h *hold) ask(d *random, waits bool) {
	lease, c := h.lease, h.now
	h.shortened = false
	h.flight = &flight{c: h.c, sent: h.l.w.now,
		call:    h.acquireCall(c, lease, waits, h.copyKind()),
		further: h.acquireCall(c, lease, waits, copyAgain)}
	h.flight.done = func(reply any, sent int64) {
		v := h.l.verdict(reply)
		switch {
		case v.over:
			h.l.w.fail(ruleReply, "%s tells %s that its claim is over", h.l.name, h.field)
		case v.ok:
			h.got(d, sent, lease)
		case waits:
			h.lag = h.l.w.now - sent
			h.refused(d, v.ttl)
		case c.strays > 0 || waits && h.l.kind == fair:
			h.undo(d)
		default:
			h.rest()
			h.l.w.count(h.l.kind.String() + " refused")
		}
	}
	h.flight.unknown = func() { h.undo(d) }
	h.launch(d, c)
}

// got begins or extends a hold, unless the reply took longer than the lease.
func (h *hold) got(d *random, sent, lease int64) {
	w := h.l.w
	if w.now >= sent+lease {
		w.count("granted too late")
		h.undo(d)
		return
	}
	c := h.now
	h.rest()
	w.count(h.l.kind.String() + " granted")
	h.held++
	h.claim = c
	h.state = holding
	h.trust = max(h.trust, sent+lease)
	if sent <= h.voided {
		h.trust = 0
	}
	h.renewAt = w.now + h.lease/3
}

// refused begins to wait: it subscribes, and then tries again first, because a message
// before the subscription was missed.
func (h *hold) refused(d *random, ttl int64) {
	w := h.l.w
	h.state, h.asked = waiting, h.subbed
	h.wakeAt = w.now + ttl + 1
	if h.now.strays > 0 {
		h.wakeAt = min(h.wakeAt, w.now+pollStrays)
	}
	if h.l.kind == spin {
		h.wakeAt = w.now + 1 + int64(d.n(128))
		h.subbed, h.asked = true, true
		return
	}
	if !h.subbed {
		h.c.subscribe(h.channel())
		h.subbed = true
		w.count(h.l.kind.String() + " waits")
	}
}

// rest ends a wait.
func (h *hold) rest() {
	if h.subbed && h.l.kind != spin {
		h.c.unsubscribe(h.channel())
	}
	h.subbed, h.asked, h.woken = false, false, false
	if h.state == waiting {
		h.state = idle
	}
}

func (h *hold) wait(d *random) {
	w := h.l.w
	h.c.reconnect()
	switch {
	case w.now >= h.giveUp:
		w.count("waited in vain")
		if h.now.strays > 0 || h.l.kind == fair {
			h.undo(d)
		} else {
			h.rest()
		}
	case h.woken || !h.asked || w.now >= h.wakeAt:
		h.woken = false
		h.ask(d, true)
	}
}

// undo ends the acquisition under way: it gives back what may have been granted, and
// leaves the queue.
func (h *hold) undo(d *random) {
	c := h.now
	h.rest()
	h.l.w.count("undone")
	h.do(d, h.releaseCall(c), c, func(any, int64) { h.c.sweep(d, c) }, nil)
}

// sweep deletes the latch of a claim that is over, unless copies may still arrive.
func (c *client) sweep(d *random, k *claim) {
	if k.strays == 0 && d.in(90) {
		c.drop(k.latch)
	}
}

// lose ends the hold in the client. The stored hold is released before the next one.
func (h *hold) lose() {
	h.l.w.count("lease lost")
	h.rest()
	h.over = h.claim
	h.state, h.held, h.claim, h.trust, h.watched = lost, 0, nil, 0, false
	if h.over == nil {
		h.state = idle
	}
}

// clean releases what may be left of a lost hold.
func (h *hold) clean(d *random) {
	c := h.over
	h.do(d, h.releaseCall(c), c, func(any, int64) {
		h.state, h.over = idle, nil
		h.c.sweep(d, c)
	}, nil)
}

func (h *hold) renew(d *random) {
	lease, c, place := h.lease, h.claim, int64(0)
	if c.changed {
		h.l.w.place++
		place = h.l.w.place
	}
	h.do(d, h.renewCall(c, lease, place, false), nil, func(reply any, sent int64) {
		w := h.l.w
		w.count("renewed")
		switch {
		case reply != int64(1):
			h.lose()
		case h.trust == 0 || sent <= h.voided:
			h.lose()
		default:
			if w.now >= h.trust {
				w.count("renewed late")
			}
			h.trust = max(h.trust, sent+lease)
			h.renewAt = w.now + lease/3
		}
	}, func() { h.renewAt = h.l.w.now + lease/10 })
}

// verify asks whether the lock is held. A renewal of 0 ms does that without an effect.
func (h *hold) verify(d *random) {
	h.do(d, h.renewCall(h.claim, 0, 0, false), nil, func(reply any, _ int64) {
		h.l.w.count("verified")
		if reply != int64(1) {
			h.lose()
		}
	}, func() {})
}

// setLease makes the lease end at that time from now. Until the reply, either lease may
// be the server's.
func (h *hold) setLease(d *random, lease int64) {
	w := h.l.w
	w.place++
	w.count("lease set")
	h.trust, h.watched = min(h.trust, w.now+lease), false
	c := h.claim
	c.changed = true
	k := h.renewCall(c, lease, w.place, true)
	h.flight = &flight{c: h.c, call: k, sent: w.now, hasty: true}
	h.flight.done = func(reply any, sent int64) {
		switch {
		case reply != int64(1), h.trust == 0, sent <= h.voided:
			h.lose()
		default:
			h.lease, h.trust = lease, sent+lease
		}
	}
	h.flight.unknown = func() { w.count("lease unknown") }
	h.launch(d, c)
}

// unlock ends one of the holds. The last one is released.
func (h *hold) unlock(d *random) {
	if h.held--; h.held > 0 {
		return
	}
	c := h.claim
	h.claim, h.trust, h.watched = nil, 0, false
	h.do(d, h.releaseCall(c), c, func(reply any, _ int64) {
		h.l.w.count("unlocked")
		if reply == int64(-1) {
			h.lose()
		} else {
			h.state = idle
			h.restUp = h.l.w.now + int64(d.n(50))
		}
		h.c.sweep(d, c)
	}, nil)
}

// unlockAgain unlocks a lock that is not held.
func (h *hold) unlockAgain(d *random) {
	h.l.w.count("unlocked twice")
	c := &claim{latch: h.l.latch()}
	h.do(d, h.releaseCall(c), c, func(any, int64) {}, nil)
}

func (h *hold) force(d *random) {
	h.l.w.count("unlocked by force")
	h.do(d, h.forceCall(h.l.latch()), nil, func(any, int64) {}, nil)
}

// drop deletes a latch that is no longer needed.
func (c *client) drop(latch string) {
	c.reconnect()
	c.cmd.do("DEL", latch)
	delete(c.w.latches, latch)
	c.w.observe(latch)
}

// look asks the server about the hold with one of several commands.
func (h *hold) look(d *random) {
	w := h.l.w
	h.c.reconnect()
	cmd := h.c.cmd
	var got, want any
	live := h.live()
	switch d.n(4) {
	case 0:
		got, want = cmd.do("HGET", h.l.name, h.field), nil
		if live {
			want = itoa(h.count)
		}
	case 1:
		got, want = cmd.do("HEXISTS", h.l.name, h.field), int64(0)
		if live {
			want = int64(1)
		}
	case 2:
		if got = cmd.do("PTTL", h.l.name); !live {
			return
		}
		want = h.end() - w.server()
	case 3:
		got, want = cmd.do("EXISTS", h.l.name), int64(0)
		for _, o := range h.l.holds {
			if o.live() {
				want = int64(1)
			}
		}
	}
	if got != want {
		w.fail(ruleReply, "%s of %s: %v, not %v", h.l.name, h.field, got, want)
	}
}
