package simulation

// client is a process that uses the server, with one connection for commands and one
// for messages.
type client struct {
	w        *world
	id       string
	cmd, sub *link
	proto    int
	paused   int64 // it does nothing until then (a garbage collection, a debugger)
	crashed  bool
	holds    []*hold
	heard    func(channel string)
	missed   func()
	channels map[string]int // subscribed channels, and how often each
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
// It is sent again until it is answered, as go-redis and rlock do. A late copy arrives
// before its sender sends anything else, or never.
type flight struct {
	c       *client
	call    *call
	sent    int64 // of the first send, on the clients' clock
	tries   int
	late    bool // an earlier copy may still arrive
	kept    bool // the reply is delayed
	reply   any
	once    bool                        // must not be sent twice
	done    func(reply any, sent int64) // called with the reply
	unknown func()                      // called when it is given up; nil: it is never given up
}

// transmit sends the request, and reports whether it was answered.
func (f *flight) transmit(d *random) bool {
	w := f.c.w
	f.c.reconnect()
	f.tries++
	after := false
	if f.late {
		f.late = false
		switch d.n(3) {
		case 0:
			w.execute(f.c.cmd, f.call)
		case 1:
			after = true
		}
	}
	fate := d.n(100)
	switch {
	case fate < 3:
		w.count("request lost")
		return false
	case fate < 6 && !f.once:
		w.count("request late")
		f.late = true
		return false
	}
	reply := w.execute(f.c.cmd, f.call)
	if after {
		w.count("request arrived twice")
		w.execute(f.c.cmd, f.call)
	}
	switch {
	case fate < 9:
		w.count("reply lost")
		return false
	case fate < 13:
		w.count("reply late")
		f.kept, f.reply = true, reply
		return false
	}
	f.reply = reply
	return true
}

// proceed runs the next event of a request that was not answered at once.
func (f *flight) proceed(d *random) (answered, over bool) {
	w := f.c.w
	switch {
	case f.kept:
		f.kept = !d.in(60)
		return !f.kept, false
	case f.once:
		return false, true
	case f.late && d.in(30):
		f.late = false
		w.execute(f.c.cmd, f.call)
	case f.unknown != nil && (d.in(10) || f.tries >= 4):
		if f.late && d.in(50) {
			w.execute(f.c.cmd, f.call)
		}
		return false, true
	}
	return f.transmit(d), false
}

// abandon stops waiting for the request, which may still arrive.
func (f *flight) abandon() {
	if f.late {
		f.c.w.orphans = append(f.c.w.orphans, orphan{f.call})
		if h := f.call.from; h != nil {
			h.strays++
		}
	}
}

// arrive lets the request of a crashed client arrive, or get lost.
func (w *world) arrive(d *random) {
	if len(w.orphans) == 0 {
		return
	}
	i := d.n(len(w.orphans))
	o := w.orphans[i]
	w.orphans = append(w.orphans[:i:i], w.orphans[i+1:]...)
	if h := o.call.from; h != nil {
		h.strays--
	}
	if d.in(80) {
		w.count("request of a crashed client")
		l := w.dial(2, nil)
		w.execute(l, o.call)
		l.hangUp()
	}
}
