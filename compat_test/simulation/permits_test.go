package simulation

import (
	"fmt"
	"slices"

	"github.com/lockredis/lockredis/store"
)

// number returns the number in a key, 0 if the key does not exist.
func (w *world) number(key string) (n int64) {
	if e := w.e.Env().Space.DB(0).Peek([]byte(key)); e != nil {
		n, _ = e.Value().(*store.String).Int()
	}
	return n
}

// request returns a request id of 16 bytes.
func (w *world) request() string {
	w.serial++
	return fmt.Sprintf("%016d", w.serial)
}

// semaphore is a counter of free permits. Another client gives back the permits of a
// crashed client, when no copy of the crashed client's requests can arrive any more.
type semaphore struct {
	w           *world
	name        string
	free, total int64
	out         []*semClaim // granted
	users       []*user
}

// semClaim is one acquisition of a semaphore.
type semClaim struct {
	claim
	n     int64
	owner *client
	since int64 // when it began, on the clients' clocks
}

func (w *world) newSemaphore(total int64, users int) {
	s := &semaphore{w: w, name: w.name("semaphore"), total: total, free: total}
	s.users = w.use(s, users)
	l := w.dial(2, nil)
	w.execute(l, &call{script: "counter_create", keys: []string{s.name, s.channel(), w.newLatch(s.name)},
		args: []string{publish, life, itoa(total), itoa(total)}, effect: func(any) {}})
	l.hangUp()
}

func (s *semaphore) channel() string      { return "redisson_sc:{" + s.name + "}" }
func (s *semaphore) freeFor(u *user) bool { return s.free >= u.want }
func (s *semaphore) forget(*user)         {}

// gone removes a claim whose permits were given back.
func (s *semaphore) gone(c *semClaim) {
	s.out = slices.DeleteFunc(s.out, func(o *semClaim) bool { return o == c })
}

func (s *semaphore) act(u *user, d *random) {
	left := slices.IndexFunc(s.out, func(c *semClaim) bool {
		return c.owner.crashed && s.w.now > c.owner.crashedAt+latchTime
	})
	switch {
	case u.sem != nil && d.in(50):
		s.release(u, d)
	case u.sem != nil:
		u.restUp = s.w.now + int64(d.n(100))
	case left >= 0:
		u.sem = s.out[left]
		u.sem.owner = u.client
	case d.n(50) == 0:
		s.drain(u, d)
	default:
		u.want = 1 + int64(d.n(int(s.total)))
		u.giveUp = s.w.now + pick[int64](d, 0, 500, 5000)
		u.sem = s.newClaim(u, u.want)
		s.ask(u, d)
	}
}

func (s *semaphore) newClaim(u *user, n int64) *semClaim {
	return &semClaim{claim{latch: s.w.newLatch(s.name)}, n, u.client, s.w.now}
}

func (s *semaphore) release(u *user, d *random) {
	c, r := u.sem, s.newClaim(u, 0)
	s.w.count("semaphore released")
	u.change(d, u.script(s, s.users, "sem_add", []string{s.name, s.channel(), r.latch},
		[]string{publish, life, itoa(c.n)}, func(reply any) {
			s.w.counted(r.latch, reply, func() int64 {
				s.free += c.n
				s.gone(c)
				return s.free
			})
		}), &r.claim, func(any, int64) { u.sem = nil; u.sweep(d, &r.claim) })
}

func (s *semaphore) drain(u *user, d *random) {
	c := s.newClaim(u, 0)
	u.sem = c
	u.change(d, u.script(s, s.users, "sem_drain", []string{s.name, c.latch}, []string{life},
		func(reply any) {
			s.w.counted(c.latch, reply, func() int64 {
				c.n, s.free = s.free, 0
				s.out = append(s.out, c)
				return c.n
			})
		}), &c.claim, func(any, int64) { u.sweep(d, &c.claim) })
}

func (s *semaphore) ask(u *user, d *random) {
	c := u.sem
	if c.strays == 0 {
		c.since = s.w.now
	}
	limit := c.since + latchTime - s.w.now
	if limit <= 0 { // the latch of a grant may have expired
		u.die()
		return
	}
	k := u.script(s, s.users, "sem_acquire", []string{s.name, c.latch}, []string{life, itoa(c.n)},
		func(reply any) {
			answer, ok := s.w.latched(c.latch)
			switch {
			case ok:
			case s.free >= c.n:
				s.free -= c.n
				s.out = append(s.out, c)
				s.w.latch(c.latch, 1)
				answer = 1
			}
			if fmt.Sprint(reply) != fmt.Sprint([]any{answer, s.free}) {
				s.w.fail(ruleTotal, "%s answers %v, not %d and %d", s.name, reply, answer, s.free)
			}
		})
	f := &flight{c: u.client, call: k, sent: s.w.now, limit: limit}
	f.unknown = func() { s.undo(u, d) }
	f.done = func(reply any, _ int64) {
		switch {
		case reply.([]any)[0] == int64(-4):
			s.w.fail(ruleReply, "%s tells %s that its claim is over", s.name, u)
		case reply.([]any)[0] == int64(1):
			s.w.count("semaphore granted")
			u.rest()
			u.sweep(d, &c.claim)
		case u.giveUp <= s.w.now:
			s.end(u, d)
		default:
			u.sleep(u.pollAt(&c.claim, u.giveUp+1), 0)
		}
	}
	u.send(d, f, &c.claim)
}

// end ends an acquisition without a grant.
func (s *semaphore) end(u *user, d *random) {
	if u.sem.strays > 0 {
		s.undo(u, d)
		return
	}
	u.rest()
	u.sem = nil
}

func (s *semaphore) undo(u *user, d *random) {
	c := u.sem
	u.rest()
	keys := []string{s.name, s.channel(), c.latch}
	u.changeBefore(c.since+latchTime, d, u.script(s, s.users, "sem_undo", keys,
		[]string{publish, life, itoa(c.n)}, func(reply any) {
			want := int64(0)
			if answer, ok := s.w.latched(c.latch); ok && answer == 1 {
				want = 1
				s.free += c.n
				s.gone(c)
			}
			s.w.latch(c.latch, -4)
			if reply != want {
				s.w.fail(ruleTotal, "%s: to give %d back answers %v, not %d", s.name, c.n, reply, want)
			}
		}), &c.claim, func(any, int64) {
		s.w.count("semaphore undone")
		u.sem = nil
		u.sweep(d, &c.claim)
	})
}

func (s *semaphore) check() {
	sum := s.free
	for _, c := range s.out {
		sum += c.n
		if !c.owner.crashed && !slices.ContainsFunc(s.users, func(u *user) bool { return u.sem == c }) {
			s.w.fail(ruleOwned, "%d permits of %s are taken, and no client knows", c.n, s.name)
		}
	}
	if n := s.w.number(s.name); n != s.free || sum != s.total {
		s.w.fail(ruleTotal, "%s has %d free, not %d; %d of %d in all", s.name, n, s.free, sum, s.total)
	}
}

// permits is a semaphore whose permits have leases.
type permits struct {
	w           *world
	name        string
	free, total int64
	out         []permit
	users       []*user
}

type permit struct {
	id  string
	end int64 // on the server's clock
	// owner asked for it.
	owner *client
}

func (w *world) newPermits(total int64, users int) {
	p := &permits{w: w, name: w.name("permits"), total: total, free: total}
	p.users = w.use(p, users)
	l := w.dial(2, nil)
	w.execute(l, &call{script: "permit_set", keys: append(p.keys(), w.newLatch(p.name)),
		args: []string{publish, life, itoa(total)}, effect: func(any) {}})
	l.hangUp()
}

func (p *permits) channel() string { return "redisson_sc:{" + p.name + "}" }
func (p *permits) keys() []string {
	return []string{p.name, "{" + p.name + "}:timeout", p.channel()}
}
func (p *permits) forget(*user)       {}
func (p *permits) freeFor(*user) bool { return p.free > 0 }

// sweep frees the permits whose lease has ended.
func (p *permits) sweep() {
	p.out = slices.DeleteFunc(p.out, func(o permit) bool {
		over := o.end <= p.w.server()
		if over {
			p.free++
			p.w.count("permit swept")
		}
		return over
	})
}

func (p *permits) find(id string) int {
	return slices.IndexFunc(p.out, func(o permit) bool { return o.id == id })
}

func (p *permits) act(u *user, d *random) {
	switch n := d.n(100); {
	case u.id != "" && n < 40:
		p.release(u, d)
	case u.id != "" && n < 60 && u.trust > p.w.now:
		shorten := pick[int64](d, 0, 0, 1, 300)
		if u.fixed && shorten == 0 { // after SetLease the watchdog does not renew
			shorten = 3000
		}
		p.renew(u, d, u.want, shorten)
	case u.id != "" && n < 65: // a verification
		p.renew(u, d, 1, 0)
	case u.id != "":
		u.restUp = p.w.now + int64(d.n(200))
	default:
		u.giveUp = p.w.now + pick[int64](d, 0, 500, 5000)
		u.want = pick[int64](d, 1, 10, 300, 3000) // the lease
		u.id = p.w.request()
		u.claim = &claim{latch: "redisson_unlock_latch:{" + p.name + "}:" + u.id}
		u.fixed = false
		p.ask(u, d)
	}
}

const noLease = "922337203685477"

func (p *permits) ask(u *user, d *random) {
	lease, id, c, owner := u.want, u.id, u.claim, u.client
	u.shortened = false
	u.do(d, u.script(p, p.users, "permit_acquire", append(p.keys(), c.latch),
		[]string{publish, noLease, itoa(lease), id}, func(reply any) {
			_, over := p.w.latched(c.latch)
			if !over {
				p.sweep()
			}
			want, end := []any{int64(1), p.free}, p.w.server()+lease
			switch i := p.find(id); {
			case over:
				want = []any{int64(-4)}
			case i >= 0:
				p.out[i].end = max(p.out[i].end, end)
			case p.free < 1:
				first := slices.MinFunc(p.out, func(a, b permit) int { return int(a.end - b.end) })
				want = []any{int64(0), p.free, first.end - p.w.server()}
			default:
				p.out = append(p.out, permit{id, end, owner})
				p.free--
				want[1] = p.free
			}
			if fmt.Sprint(reply) != fmt.Sprint(want) {
				p.w.fail(ruleTotal, "%s answers %v, not %v", p.name, reply, want)
			}
		}), c, func(reply any, sent int64) {
		list := reply.([]any)
		switch {
		case list[0] == int64(-4):
			p.w.fail(ruleReply, "%s tells %s that its claim is over", p.name, u)
		case list[0] == int64(1) && p.w.now >= sent+lease:
			p.undo(u, d)
		case list[0] == int64(1):
			p.w.count("permit granted")
			u.rest()
			u.trust = sent + lease
			p.checkTrust()
		case u.giveUp <= p.w.now:
			p.end(u, d)
		default:
			u.sleep(u.pollAt(c, p.w.now+list[2].(int64)+1), p.w.now-sent)
		}
	}, func() { p.undo(u, d) })
}

// end ends an acquisition without a grant.
func (p *permits) end(u *user, d *random) {
	if u.claim.strays > 0 {
		p.undo(u, d)
		return
	}
	u.rest()
	u.id, u.claim = "", nil
}

// undo gives the permit of a claim back, as the release of a hold does too.
func (p *permits) undo(u *user, d *random) {
	id, c := u.id, u.claim
	u.rest()
	u.trust = 0
	u.do(d, u.script(p, p.users, "permit_undo", append(p.keys(), c.latch),
		[]string{publish, life, id}, func(reply any) {
			p.w.counted(c.latch, reply, func() int64 {
				i := p.find(id)
				if i < 0 {
					return 0
				}
				held := int64(0)
				if p.out[i].end > p.w.server() {
					held = 1
				}
				p.out = slices.Delete(p.out, i, i+1)
				p.free++
				return held
			})
		}), c, func(any, int64) {
		p.w.count("permit undone")
		u.id, u.claim = "", nil
		u.sweep(d, c)
	}, nil)
}

func (p *permits) release(u *user, d *random) {
	if byID := 50 + 30*min(u.claim.strays, 1); !d.in(byID) {
		p.w.count("permit released")
		p.undo(u, d)
		return
	}
	id, c, latch := u.id, u.claim, p.w.newLatch(p.name)
	r := &claim{latch: latch}
	u.trust = 0
	u.do(d, u.script(p, p.users, "permit_release", append(p.keys(), latch, c.latch),
		[]string{publish, life, id}, func(reply any) {
			i := p.find(id)
			p.w.counted(latch, reply, func() int64 {
				released := int64(0)
				if i >= 0 {
					if p.out[i].end > p.w.server() {
						released = 1
					}
					p.out = slices.Delete(p.out, i, i+1)
					p.free++
				}
				p.w.sealLonger(c.latch)
				p.sweepAfter(released)
				return released
			})
		}), r, func(any, int64) {
		p.w.count("permit released by its id")
		u.id, u.claim = "", nil
		u.sweep(d, r)
	}, nil)
}

// sweepAfter frees all permits whose lease has ended, as the release script does when it
// has released no permit.
func (p *permits) sweepAfter(released int64) {
	if released == 0 {
		p.sweep()
	}
}

// renew starts the lease again. With shorten, which is not 0, it becomes that length.
func (p *permits) renew(u *user, d *random, lease, shorten int64) {
	id, c, place := u.id, u.claim, int64(0)
	if shorten != 0 {
		p.w.place++
		lease, place, u.fixed = shorten, p.w.place, true
		u.trust = min(u.trust, p.w.now+lease)
	}
	u.do(d, u.script(p, p.users, "permit_update", append(p.keys(), c.latch),
		[]string{publish, noLease, itoa(lease), flag(place != 0), placeArg(place), life, id},
		func(reply any) {
			p.sweep()
			i := p.find(id)
			_, latched := p.w.latched(c.latch)
			want := int64(1)
			switch {
			case i < 0:
				want = 0
			case place != 0 && latched && p.w.latches[c.latch].place > place:
				want = 2
			}
			if reply != want {
				p.w.fail(ruleReply, "%s: a renewal of %s answers %v", p.name, id, reply)
			}
			if i < 0 {
				return
			}
			at := p.w.server() + lease
			if place != 0 {
				if latched && p.w.latches[c.latch].place >= place {
					return
				}
				p.w.order(c.latch, place)
			} else {
				at = max(at, p.out[i].end)
			}
			if at < p.out[i].end { // waiters sleep until the earlier end
				for _, o := range p.users {
					o.shortened = true
				}
			}
			p.out[i].end = at
		}), c, func(reply any, sent int64) {
		p.w.count("permit renewed")
		switch {
		case reply != int64(1):
			u.trust = 0
		case place != 0:
			u.want, u.trust = lease, sent+lease
		case u.trust > p.w.now: // else it is lost
			u.trust = max(u.trust, sent+lease)
		}
	}, func() {})
}

func (p *permits) checkTrust() {
	n := int64(0)
	for _, u := range p.users {
		if u.trust > p.w.now {
			n++
		}
	}
	if n > p.total {
		p.w.fail(ruleOwner, "%d trust to have one of %d permits of %s", n, p.total, p.name)
	}
}

func (p *permits) check() {
	n := p.w.number(p.name)
	taken := 0
	if e := p.w.e.Env().Space.DB(0).Peek([]byte(p.keys()[1])); e != nil {
		z := e.Value().(*store.ZSet)
		taken = z.Len()
		for _, o := range p.out {
			if end, _ := z.Score([]byte(o.id)); int64(end) != o.end {
				p.w.fail(ruleStored, "%s: permit %s ends at %d, not %d", p.name, o.id, int64(end), o.end)
			}
		}
	}
	if n != p.free || taken != len(p.out) || n+int64(taken) != p.total {
		p.w.fail(ruleTotal, "%s has %d free and %d out, not %d and %d of %d", p.name, n, taken, p.free,
			len(p.out), p.total)
	}
	for _, o := range p.out {
		if !o.owner.crashed && !slices.ContainsFunc(p.users, func(u *user) bool { return u.id == o.id }) {
			p.w.fail(ruleOwned, "permit %s of %s is taken, and its client does not know", o.id, p.name)
		}
	}
	for _, u := range p.users {
		if u.trust > p.w.now && p.find(u.id) < 0 {
			p.w.fail(ruleTrust, "%s trusts in permit %s for %d ms", u, u.id, u.trust-p.w.now)
		}
		over := slices.ContainsFunc(p.out, func(o permit) bool { return o.end <= p.w.server() })
		if over && u.settled() && !u.shortened && u.wakeAt > p.w.now+1+u.lag {
			p.w.fail(ruleWake, "%s sleeps for %d ms, and a lease is over", u, u.wakeAt-p.w.now)
		}
	}
}
