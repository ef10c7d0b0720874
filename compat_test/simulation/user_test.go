package simulation

// user is a client that acquires and releases something without an owner, such as
// permits.
type user struct {
	*client
	target synchronizer
	flight *flight

	waits bool
	asked bool // it has tried since it subscribed
	woken bool
	// shortened means that a lease may have been shortened since it asked.
	shortened bool
	want      int64 // while it waits
	lag       int64 // how long the reply took from which wakeAt was computed
	wakeAt    int64
	giveUp    int64
	restUp    int64

	sem   *semClaim // semaphore: of the present acquisition or hold
	id    string    // of its permit, or of its request to a rate limiter
	claim *claim    // of id
	trust int64     // end of the permit's lease
	fixed bool      // its lease was set
}

// synchronizer is the semaphore, latch or rate limiter that a user works with.
type synchronizer interface {
	channel() string
	// act runs the next action of a user that does not wait.
	act(u *user, d *random)
	// ask tries again to get what u waits for.
	ask(u *user, d *random)
	// end ends u's wait, which was in vain.
	end(u *user, d *random)
	// freeFor reports whether a try of u would succeed now.
	freeFor(u *user) bool
	// forget removes what a crashed user had.
	forget(u *user)
	check()
}

func (w *world) use(t synchronizer, users int) (all []*user) {
	for range users {
		u := &user{target: t}
		u.start(w)
		all = append(all, u)
		w.actors = append(w.actors, u)
	}
	return all
}

func (u *user) start(w *world) {
	*u = user{target: u.target, client: w.newClient(2 + w.serial%2)}
	u.heard = func(string) { u.woken = u.woken || u.waits }
	u.missed = func() { u.woken = u.woken || u.waits }
}

func (u *user) String() string { return u.client.id + " on " + u.target.channel() }

func (u *user) ready() bool {
	now := u.w.now
	switch {
	case now < u.paused:
		return false
	case u.flight != nil:
		return true
	case u.waits:
		return u.woken || !u.asked || now >= u.wakeAt || now >= u.giveUp || u.sub.deaf || u.sub.dead
	}
	return now >= u.restUp
}

func (u *user) due() int64 {
	if u.waits {
		return min(u.wakeAt, u.giveUp)
	}
	return max(u.restUp, u.trust)
}

func (u *user) settled() bool {
	return u.waits && u.asked && !u.woken && u.flight == nil && !u.sub.deaf && !u.sub.dead &&
		u.wakeAt > u.w.now
}

func (u *user) step(d *random) {
	switch {
	case !u.ready():
	case u.flight != nil:
		answered, over := u.flight.proceed(d)
		f := u.flight
		if answered || over {
			u.flight = nil
		}
		if answered {
			f.done(f.reply, f.sent)
		} else if over {
			u.w.count("given up")
			f.unknown()
		}
	case u.waits:
		u.reconnect()
		if u.w.now >= u.giveUp {
			u.target.end(u, d)
			return
		}
		u.woken = false
		u.target.ask(u, d)
	case d.n(150) == 0:
		u.die()
	case d.n(60) == 0:
		u.paused = max(u.trust, u.w.now) + pick[int64](d, -1, 0, 1, 500)
	default:
		u.target.act(u, d)
	}
}

func (u *user) fault(d *random) {
	if d.n(6) == 0 {
		u.die()
		return
	}
	u.client.fault(d)
}

func (u *user) die() {
	if u.flight != nil {
		u.flight.abandon()
	}
	u.w.count("crashed")
	u.crashedAt = u.w.now
	u.crash()
	u.target.forget(u)
	u.start(u.w)
}

// do sends a request. c, which may be nil, counts its copies.
func (u *user) do(d *random, k *call, c *claim, done func(any, int64), unknown func()) {
	u.send(d, &flight{c: u.client, call: k, sent: u.w.now, done: done, unknown: unknown}, c)
}

// change sends a request that counts once. It sends no copy after its latch has expired.
func (u *user) change(d *random, k *call, c *claim, done func(any, int64)) {
	u.changeBefore(u.w.now+latchTime, d, k, c, done)
}

// changeBefore is change for a latch that expires at some time. If there is no answer by
// then, the client is as good as crashed.
func (u *user) changeBefore(at int64, d *random, k *call, c *claim, done func(any, int64)) {
	if u.w.now >= at {
		u.die()
		return
	}
	f := &flight{c: u.client, call: k, sent: u.w.now, done: done, limit: at - u.w.now}
	f.unknown = func() {
		u.w.count("no answer in time")
		u.die()
	}
	u.send(d, f, c)
}

func (u *user) send(d *random, f *flight, c *claim) {
	if c != nil {
		f.strays = &c.strays
	}
	u.flight = f
	if f.transmit(d) {
		u.flight = nil
		f.done(f.reply, f.sent)
	}
}

// pollAt returns when a waiter asks again that was told to wait until at.
func (u *user) pollAt(c *claim, at int64) int64 {
	if c.strays > 0 {
		return min(at, u.w.now+pollStrays)
	}
	return at
}

// sleep waits for a message, or until wake.
func (u *user) sleep(wake, lag int64) {
	if !u.waits {
		u.subscribe(u.target.channel())
		u.waits, u.asked, u.woken = true, false, false
	} else {
		u.asked = true
	}
	u.wakeAt, u.lag = wake, lag
}

// rest ends a wait.
func (u *user) rest() {
	if u.waits {
		u.unsubscribe(u.target.channel())
	}
	u.waits = false
	u.restUp = u.w.now + int64(u.w.serial%100)
}

// script is a call of one of t's scripts. After it, every waiter that could
// continue must have been woken.
func (u *user) script(t synchronizer, users []*user, name string, keys, args []string,
	effect func(any)) *call {
	var asleep []*user
	return &call{script: name, keys: keys, args: args,
		prepare: func() {
			asleep = nil
			for _, o := range users {
				if o.settled() && !t.freeFor(o) {
					asleep = append(asleep, o)
				}
			}
		},
		effect: func(reply any) {
			effect(reply)
			for _, o := range asleep {
				if o.settled() && t.freeFor(o) {
					u.w.fail(ruleWake, "%s could go on, and sleeps for %d ms more", o, o.wakeAt-u.w.now)
				}
			}
			t.check()
		},
	}
}
