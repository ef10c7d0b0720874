package simulation

// user is a client that acquires and releases something without an owner, such as
// permits.
type user struct {
	*client
	target synchronizer
	flight *flight

	waits  bool
	asked  bool // it has tried since it subscribed
	woken  bool
	want   int64 // while it waits
	lag    int64 // how long the reply took from which wakeAt was computed
	wakeAt int64
	giveUp int64
	restUp int64

	has   int64  // what it holds on the server
	id    string // of its permit
	trust int64  // end of the permit's lease
}

// synchronizer is the semaphore, latch or rate limiter that a user works with.
type synchronizer interface {
	channel() string
	// act runs the next action of a user that does not wait.
	act(u *user, d *random)
	// ask tries again to get what u waits for.
	ask(u *user, d *random)
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
			u.rest()
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
	u.crash()
	u.target.forget(u)
	u.start(u.w)
}

// do sends a request. once means that it must not be sent twice.
func (u *user) do(d *random, once bool, k *call, done func(any, int64), unknown func()) {
	u.flight = &flight{c: u.client, call: k, sent: u.w.now, once: once, done: done, unknown: unknown}
	if f := u.flight; f.transmit(d) {
		u.flight = nil
		f.done(f.reply, f.sent)
	}
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
