package simulation

// client is a process that uses the server, with one connection for commands and one
// for messages.
type client struct {
	w        *world
	id       string
	cmd, sub *link
	proto    int
	paused   int64 // it takes no step before this time (a garbage collection, a debugger)
	crashed  bool
	// crashedAt is when a user crashed, on the clients' clocks.
	crashedAt int64
	holds     []*hold
	heard     func(channel string)
	missed    func()
	channels  map[string]int // subscribed channels, and how often each
}

func (w *world) newClient(proto int) *client {
	c := &client{w: w, id: w.name("c"), proto: proto, channels: map[string]int{}}
	c.connect()
	return c
}

func (c *client) connect() {
	c.cmd = c.w.dial(c.proto, nil)
	c.listen()
}

func (c *client) listen() {
	c.sub = c.w.dial(c.proto, func(channel, _ string) {
		if c.channels[channel] > 0 {
			c.heard(channel)
		}
	})
}

// reconnect replaces broken connections. Where messages may have been lost, all
// waiters try again.
func (c *client) reconnect() {
	if c.cmd.dead {
		c.cmd = c.w.dial(c.proto, nil)
		c.w.count("reconnected")
	}
	if !c.sub.dead && !c.sub.deaf {
		return
	}
	if !c.sub.dead {
		c.sub.hangUp()
	}
	c.listen()
	for _, channel := range sorted(c.channels) {
		c.sub.do("SUBSCRIBE", channel)
	}
	c.w.count("messages lost")
	c.missed()
}

func (c *client) subscribe(channel string) {
	c.reconnect()
	if c.channels[channel]++; c.channels[channel] == 1 {
		c.sub.do("SUBSCRIBE", channel)
	}
}

func (c *client) unsubscribe(channel string) {
	c.reconnect()
	if c.channels[channel]--; c.channels[channel] == 0 {
		delete(c.channels, channel)
		c.sub.do("UNSUBSCRIBE", channel)
	}
}

// crash ends the client. Its requests may still arrive.
func (c *client) crash() {
	c.crashed = true
	c.cmd.hangUp()
	c.sub.hangUp()
}

// fault makes the server kill one of the connections, or loses messages.
func (c *client) fault(d *random) {
	switch d.n(3) {
	case 0:
		c.kill(c.cmd)
	case 1:
		c.kill(c.sub)
	case 2:
		c.sub.deaf = true
	}
}

func (c *client) kill(l *link) {
	if !l.dead {
		admin := c.w.dial(2, nil)
		admin.do("CLIENT", "KILL", "ID", itoa(l.s.ID))
		admin.hangUp()
	}
}

// flight is a request without a reply.
//
// It is sent again until it is answered, as rlock does. A copy without an answer may
// arrive at any time until its latch has expired.
type flight struct {
	c       *client
	call    *call
	sent    int64 // of the first send, on the clients' clock
	tries   int
	late    *call // an earlier copy that is under way
	kept    bool  // the reply is delayed
	reply   any
	strays  *int                        // counts the copies without an answer; may be nil
	limit   int64                       // for how long it is sent; 0: no end
	further *call                       // the further copies, if they differ; may be nil
	done    func(reply any, sent int64) // called with the reply
	unknown func()                      // called when it is given up; nil: it is never given up
	hasty   bool                        // it meets more faults, and is mostly given up after one
}

// transmit sends the request, and reports whether it was answered.
func (f *flight) transmit(d *random) bool {
	w := f.c.w
	f.c.reconnect()
	if f.tries++; f.tries > 1 && f.further != nil {
		f.call = f.further
	}
	var after *call
	if late := f.late; late != nil {
		switch d.n(5) {
		case 0:
			w.execute(f.c.cmd, late)
		case 1:
			after = late
		default:
			f.stray()
		}
		f.late = nil
	}
	fate := d.n(100)
	if f.call.from == nil { // permits have few requests, so they meet more faults
		fate = d.n(40)
	}
	if f.hasty {
		fate = d.n(20)
	}
	switch {
	case fate < 3:
		w.count("request lost")
		f.missed()
		return false
	case fate < 7:
		w.count("request late")
		f.late = f.call
		f.missed()
		return false
	}
	reply := w.execute(f.c.cmd, f.call)
	if after != nil {
		w.count("request arrived twice")
		w.execute(f.c.cmd, after)
	}
	switch {
	case fate < 10:
		w.count("reply lost")
		f.missed()
		return false
	case fate < 14:
		w.count("reply late")
		f.kept, f.reply = true, reply
		return false
	}
	f.reply = reply
	return true
}

// missed records that a copy has no answer. Its client does not know why.
func (f *flight) missed() {
	if f.strays != nil {
		*f.strays++
	}
}

// stray lets the late copy arrive at some other time.
func (f *flight) stray() {
	f.c.w.orphans = append(f.c.w.orphans, orphan{f.late, f.sent + latchTime - 1})
	if h := f.call.from; h != nil {
		h.strays++
	}
	f.late = nil
}

// proceed runs the next event of a request that was not answered at once.
func (f *flight) proceed(d *random) (answered, over bool) {
	w := f.c.w
	if f.limit > 0 && w.now >= f.sent+f.limit {
		return false, true
	}
	switch {
	case f.kept:
		f.kept = !d.in(60)
		return !f.kept, false
	case f.late != nil && d.in(30):
		w.execute(f.c.cmd, f.late)
		f.late = nil
	case f.unknown != nil && f.limit == 0 && (d.in(15) || f.tries >= 4 || f.hasty && d.in(70)):
		if f.late != nil && d.in(30) {
			w.execute(f.c.cmd, f.late)
		} else if f.late != nil {
			f.stray()
		}
		return false, true
	}
	return f.transmit(d), false
}

// abandon stops waiting for the request, which may still arrive.
func (f *flight) abandon() {
	if f.late != nil {
		f.stray()
	}
}

// arrive lets a copy of a request arrive, or get lost.
func (w *world) arrive(d *random) {
	if len(w.orphans) == 0 {
		return
	}
	i := d.n(len(w.orphans))
	o := w.orphans[i]
	w.orphans = append(w.orphans[:i:i], w.orphans[i+1:]...)
	h := o.call.from
	if h != nil {
		h.strays--
	}
	if w.now > o.until || d.in(10) {
		return
	}
	if h != nil && h.c.crashed {
		w.count("request of a crashed client")
	} else {
		w.count("request after its time")
	}
	l := w.dial(2, nil)
	w.execute(l, o.call)
	l.hangUp()
}
