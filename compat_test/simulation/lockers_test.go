package simulation

// locker is a client with an owner of a lock, or of both halves of a read-write lock.
type locker struct {
	*client
	l *lock
}

func (w *world) newLocker(l *lock) *locker {
	a := &locker{l: l}
	a.start(w)
	return a
}

// start begins again as another client.
func (a *locker) start(w *world) {
	a.client = w.newClient(2 + w.serial%2)
	a.client.heard, a.client.missed = a.wake, a.wakeAll
	halves := []string{""}
	if a.l.kind == readWrite {
		halves = []string{"read", "write"}
	}
	for _, half := range halves {
		a.join(a.l, half)
	}
}

// join adds the client's hold to l.
func (c *client) join(l *lock, half string) *hold {
	h := &hold{c: c, l: l, owner: c.id + ":1", reads: half == "read"}
	h.field = h.owner
	if half == "write" {
		h.field += ":write"
	}
	c.holds = append(c.holds, h)
	l.holds = append(l.holds, h)
	return h
}

func (a *locker) String() string { return a.id + " on " + a.l.name }

func (c *client) wake(channel string) {
	for _, h := range c.holds {
		if h.state == waiting && h.l.kind != spin && h.channel() == channel {
			h.woken = true
			c.w.count("woken")
		}
	}
}

func (c *client) wakeAll() {
	for _, h := range c.holds {
		h.woken = h.woken || h.state == waiting
	}
}

func (c *client) ready() bool {
	if c.w.now < c.paused {
		return false
	}
	for _, h := range c.holds {
		if h.ready() {
			return true
		}
	}
	return false
}

func (c *client) due() int64 {
	if c.w.now < c.paused {
		return c.paused
	}
	at := int64(0)
	for _, h := range c.holds {
		if t := h.due(); t > c.w.now && (at == 0 || t < at) {
			at = t
		}
	}
	return at
}

// die ends the client with all its holds.
func (c *client) die() {
	for _, h := range c.holds {
		if h.flight != nil {
			h.flight.abandon()
		}
	}
	c.w.count("crashed")
	c.crash()
}

func (a *locker) step(d *random) {
	if !a.ready() {
		return
	}
	h := a.holds[d.n(len(a.holds))]
	if !h.ready() || h.step(d) {
		return
	}
	if h.state == idle {
		a.begin(h, d)
	} else {
		a.goOn(h, d)
	}
}

func (a *locker) fault(d *random) {
	if d.n(6) == 0 {
		a.die()
		a.start(a.w)
		return
	}
	a.client.fault(d)
}

func (a *locker) begin(h *hold, d *random) {
	switch n := d.n(200); {
	case n < 6:
		h.unlockAgain(d)
	case n < 14:
		h.look(d)
	case n == 14:
		h.force(d)
	case n < 20:
		h.restUp = a.w.now + int64(d.n(3000))
	case a.busy(h):
		h.restUp = a.w.now + 1 + int64(d.n(50))
	default:
		watched := d.in(50)
		lease := int64(3000)
		if !watched {
			lease = pick[int64](d, 1, 2, 10, 50, 300, 1000, 5000)
		}
		h.acquire(d, lease, watched, pick[int64](d, 0, 0, 20, 500, 5000, 60_000))
	}
}

// busy reports whether h's owner has or asks for the other half of the lock. Only a writer
// may also read.
func (a *locker) busy(h *hold) bool {
	for _, o := range a.holds {
		if o != h && (o.state != idle || o.flight != nil) {
			return !h.reads || o.state != holding
		}
	}
	return false
}

func (a *locker) goOn(h *hold, d *random) {
	switch n := d.n(220); {
	case n < 80:
		h.unlock(d)
	case n < 100 && h.held < 3:
		h.enter(d)
	case n < 130 && h.held == 1:
		h.setLease(d, pick(d, 20, h.lease/2+1, 2*h.lease, 5000))
	case n < 133:
		h.verify(d)
	case n < 140:
		h.look(d)
	case n < 144: // until its lease ends, or nearly
		a.w.count("paused")
		a.paused = max(h.trust, a.w.now) + pick[int64](d, -1, 0, 1, 700)
	case n < 146:
		a.die()
		a.start(a.w)
	case n == 146:
		h.force(d)
	default:
		h.restUp = a.w.now + int64(d.n(200))
	}
}

// multi locks several locks as one.
type multi struct {
	*client
	parts []*lock
	phase phase
	asked bool // the next part was tried
}

type phase uint8

const (
	gathering phase = iota
	having
	dropping
)

func (w *world) newMulti(parts []*lock) *multi {
	m := &multi{parts: parts}
	m.start(w)
	return m
}

func (m *multi) start(w *world) {
	m.client = w.newClient(3)
	m.client.heard, m.client.missed = m.wake, m.wakeAll
	m.phase = gathering
	for _, l := range m.parts {
		m.join(l, "")
	}
}

func (m *multi) step(d *random) {
	if m.w.now < m.paused {
		return
	}
	for _, h := range m.holds {
		if (h.flight != nil || h.state != idle) && h.ready() && h.step(d) {
			return
		}
	}
	for _, h := range m.holds { // no request is in progress
		if h.flight != nil || h.state == waiting || h.state == lost {
			return
		}
	}
	switch m.phase {
	case gathering:
		m.gather(d)
	case having:
		m.use(d)
	case dropping:
		m.drop(d)
	}
}

func (m *multi) fault(d *random) {
	if d.n(6) == 0 {
		m.die()
		m.start(m.w)
		return
	}
	m.client.fault(d)
}

func (m *multi) String() string { return m.id + " on several locks" }

// next returns the first part that is not held.
func (m *multi) next() *hold {
	for _, h := range m.holds {
		if h.state != holding {
			return h
		}
	}
	return nil
}

func (m *multi) gather(d *random) {
	h := m.next()
	switch {
	case h == nil:
		m.w.count("multi granted")
		m.phase, m.asked = having, false
	case m.asked && h != m.holds[0]:
		m.phase, m.asked = dropping, false
	default:
		m.asked = true
		h.acquire(d, 3000, true, pick[int64](d, 0, 50, 2000))
	}
	if h != nil && h.state == holding {
		m.asked = false
	}
}

func (m *multi) use(d *random) {
	switch n := d.n(100); {
	case n < 40 || m.next() != nil:
		m.phase = dropping
	case n < 42:
		m.paused = m.w.now + int64(d.n(4000))
	case n == 42:
		m.die()
		m.start(m.w)
	default:
		for _, h := range m.holds {
			h.restUp = m.w.now + int64(d.n(200))
		}
	}
}

func (m *multi) drop(d *random) {
	for _, h := range m.holds {
		if h.state == holding {
			h.unlock(d)
			return
		}
	}
	m.phase = gathering
	m.holds = append(m.holds[1:], m.holds[0])
	m.holds[0].restUp = m.w.now + int64(d.n(100))
}
