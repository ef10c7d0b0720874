package simulation

import "strconv"

func itoa[T int | int64](n T) string { return strconv.FormatInt(int64(n), 10) }

// state is the state of a client and a lock.
type state uint8

const (
	idle state = iota
	waiting
	holding
	lost // its lease ended: it releases what may be left before it tries again
)

// hold is the relation of an owner and a lock: what is stored of it, by the replies,
// and what its client believes, which may not have received all of them.
type hold struct {
	c     *client
	l     *lock
	owner string
	field string // of the hash
	reads bool   // readWrite: it is a read hold

	// As stored.
	count int
	until int64 // on the server's clock
	turn  int64 // fair: its deadline in the queue; 0: it is not queued

	// As believed.
	state   state
	held    int
	trust   int64 // end of the lease, measured from when the request was sent
	lease   int64 // ms
	watched bool  // the watchdog renews it
	voided  int64 // replies to requests sent before this count no more, after an unlock by force
	renewAt int64
	restUp  int64 // it does nothing before this

	// While waiting.
	giveUp    int64
	wakeAt    int64
	lag       int64 // how long the reply took from which wakeAt was computed
	subbed    bool
	asked     bool // it has tried since it subscribed
	woken     bool
	shortened bool // the lease that it waits for was shortened since

	flight *flight
	strays int // number of its requests that may arrive after its client's crash
}

// trusts reports whether h's client may act as the lock's owner.
func (h *hold) trusts() bool { return h.held > 0 && h.l.w.now < h.trust && !h.c.crashed }

// settled reports whether h waits for nothing but a message or time.
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

// do sends a request about the lock.
func (h *hold) do(d *random, k *call, done func(any, int64), unknown func()) {
	h.flight = &flight{c: h.c, call: k, sent: h.l.w.now, done: done, unknown: unknown}
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
	h.ask(d, patience > 0)
}

// keptLease returns the lease that locking again does not shorten.
func (h *hold) keptLease() int64 {
	if h.held > 0 {
		return h.lease
	}
	return 0
}

func (h *hold) ask(d *random, waits bool) {
	held, lease := h.held, h.lease
	h.shortened = false
	h.do(d, h.acquireCall(lease, held, waits), func(reply any, sent int64) {
		ok, gone, ttl := h.l.verdict(reply)
		switch {
		case gone:
			h.lose()
		case ok:
			h.got(sent, lease)
		case waits:
			h.lag = h.l.w.now - sent
			h.refused(d, ttl)
		default:
			h.l.w.count(h.l.kind.String() + " refused")
		}
	}, func() { h.undo(d, held, waits) })
}

// got begins or extends a hold, unless the reply took longer than the lease.
func (h *hold) got(sent, lease int64) {
	w := h.l.w
	h.rest()
	if w.now >= sent+lease {
		w.count("granted too late")
		h.held++
		h.lose()
		return
	}
	w.count(h.l.kind.String() + " granted")
	h.held++
	h.state = holding
	h.trust = sent + lease
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
		h.leave(d)
	case h.woken || !h.asked || w.now >= h.wakeAt:
		h.woken = false
		h.ask(d, true)
	}
}

// undo undoes what may have been granted.
func (h *hold) undo(d *random, held int, waits bool) {
	h.do(d, h.undoCall(held, h.l.latch()), func(any, int64) {
		if waits {
			h.leave(d)
		} else {
			h.rest()
		}
	}, nil)
}

// leave stops waiting.
func (h *hold) leave(d *random) {
	h.rest()
	if h.l.kind == fair {
		h.do(d, h.leaveCall(), func(any, int64) {}, nil)
	}
}

func (h *hold) lose() {
	h.l.w.count("lease lost")
	h.rest()
	h.state, h.held, h.trust, h.watched = lost, 0, 0, false
}

// clean releases what may be left of a lost hold.
func (h *hold) clean(d *random) {
	h.do(d, h.releaseCall(h.l.latch(), max(h.lease, 1)), func(reply any, _ int64) {
		if reply != int64(0) {
			h.state = idle
		}
	}, nil)
}

func (h *hold) renew(d *random) {
	lease := h.lease
	h.do(d, h.renewCall(lease), func(reply any, sent int64) {
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

func (h *hold) unlock(d *random) {
	lease := h.lease
	if h.held--; h.held == 0 {
		h.trust = 0
		h.watched = false
	}
	latch := h.l.latch()
	h.do(d, h.releaseCall(latch, lease), func(reply any, _ int64) {
		h.l.w.count("unlocked")
		switch {
		case reply == nil:
			h.lose()
			h.state = idle
		case h.held == 0:
			h.state = idle
			h.restUp = h.l.w.now + int64(d.n(50))
		}
		if d.in(90) {
			h.c.drop(latch)
		}
	}, nil)
}

// unlockAgain unlocks a lock that is not held.
func (h *hold) unlockAgain(d *random) {
	h.l.w.count("unlocked twice")
	h.do(d, h.releaseCall(h.l.latch(), 1000), func(any, int64) {}, nil)
}

func (h *hold) force(d *random) {
	h.l.w.count("unlocked by force")
	h.do(d, h.forceCall(h.l.latch()), func(any, int64) {}, nil)
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
