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

// semaphore is a counter of free permits. When the reply to an acquisition is lost,
// its permits stay acquired.
type semaphore struct {
	w                 *world
	name              string
	free, lost, total int64
	users             []*user
}

func (w *world) newSemaphore(total int64, users int) {
	s := &semaphore{w: w, name: w.name("semaphore"), total: total, free: total}
	s.users = w.use(s, users)
	l := w.dial(2, nil)
	w.execute(l, &call{script: "semaphoreTrySet", keys: []string{s.name, s.channel()},
		args: []string{itoa(total), publish}, effect: func(any) {}})
	l.hangUp()
}

func (s *semaphore) channel() string      { return "redisson_sc:{" + s.name + "}" }
func (s *semaphore) freeFor(u *user) bool { return s.free >= u.want }
func (s *semaphore) forget(u *user)       { s.lost += u.has }

func (s *semaphore) act(u *user, d *random) {
	switch {
	case u.has > 0 && d.in(50):
		u.w.count("semaphore released")
		n := u.has
		u.do(d, true, u.script(s, s.users, "semaphoreRelease", []string{s.name, s.channel()},
			[]string{itoa(n), publish}, func(reply any) {
				s.free += n
				u.has -= n
				if reply != s.free {
					s.w.fail(ruleTotal, "%s has %v free after a release, not %d", s.name, reply, s.free)
				}
			}), func(any, int64) {}, func() {})
	case u.has > 0:
		u.restUp = s.w.now + int64(d.n(100))
	case s.lost > 0:
		u.has, s.lost = s.lost, 0
	case d.n(50) == 0:
		u.do(d, true, u.script(s, s.users, "semaphoreDrain", []string{s.name}, nil, func(reply any) {
			if reply != s.free {
				s.w.fail(ruleTotal, "%s had %v free to drain, not %d", s.name, reply, s.free)
			}
			u.has += s.free
			s.free = 0
		}), func(any, int64) {}, func() {})
	default:
		u.want = 1 + int64(d.n(int(s.total)))
		u.giveUp = s.w.now + pick[int64](d, 0, 500, 5000)
		s.ask(u, d)
	}
}

func (s *semaphore) ask(u *user, d *random) {
	n := u.want
	u.do(d, true, u.script(s, s.users, "semaphoreAcquire", []string{s.name}, []string{itoa(n)},
		func(reply any) {
			ok := int64(0)
			if s.free >= n {
				ok = 1
				s.free -= n
				u.has += n
			}
			if fmt.Sprint(reply) != fmt.Sprint([]any{ok, s.free}) {
				s.w.fail(ruleTotal, "%s answers %v, not %d and %d", s.name, reply, ok, s.free)
			}
		}), func(reply any, sent int64) {
		switch {
		case reply.([]any)[0] == int64(1):
			s.w.count("semaphore granted")
			u.rest()
		case u.giveUp <= s.w.now:
			u.rest()
		default:
			u.sleep(u.giveUp+1, 0)
		}
	}, u.rest)
}

func (s *semaphore) check() {
	sum := s.free + s.lost
	for _, u := range s.users {
		sum += u.has
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
}

func (w *world) newPermits(total int64, users int) {
	p := &permits{w: w, name: w.name("permits"), total: total, free: total}
	p.users = w.use(p, users)
	l := w.dial(2, nil)
	w.execute(l, &call{script: "permitSet", keys: p.keys(), args: []string{publish, itoa(total)},
		effect: func(any) {}})
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
	switch {
	case u.id != "" && d.in(40):
		p.release(u, d)
	case u.id != "":
		u.restUp = p.w.now + int64(d.n(200))
	default:
		u.giveUp = p.w.now + pick[int64](d, 0, 500, 5000)
		u.want = pick[int64](d, 1, 10, 300, 3000) // the lease
		p.ask(u, d)
	}
}

func (p *permits) ask(u *user, d *random) {
	lease := u.want
	id := p.w.request()
	u.do(d, false, u.script(p, p.users, "permitAcquire", p.keys(),
		[]string{publish, "922337203685477", itoa(lease), id}, func(reply any) {
			p.sweep()
			want := []any{int64(1), int64(0)}
			switch {
			case p.find(id) >= 0:
			case p.free < 1:
				first := slices.MinFunc(p.out, func(a, b permit) int { return int(a.end - b.end) })
				want = []any{int64(0), p.free, first.end - p.w.server()}
			default:
				p.out = append(p.out, permit{id, p.w.server() + lease})
				p.free--
				want[1] = p.free
			}
			if fmt.Sprint(reply) != fmt.Sprint(want) {
				p.w.fail(ruleTotal, "%s answers %v, not %v", p.name, reply, want)
			}
		}), func(reply any, sent int64) {
		list := reply.([]any)
		switch {
		case list[0] == int64(1):
			p.w.count("permit granted")
			u.rest()
			u.id, u.trust = id, sent+lease
			p.checkTrust()
		case u.giveUp <= p.w.now:
			u.rest()
		default:
			u.sleep(p.w.now+list[2].(int64)+1, p.w.now-sent)
		}
	}, func() {
		u.do(d, false, u.script(p, p.users, "permitUndo", p.keys(), []string{publish, id},
			func(reply any) {
				i := p.find(id)
				if (i >= 0) != (reply == int64(1)) {
					p.w.fail(ruleTotal, "%s: to take permit %s back answers %v", p.name, id, reply)
				}
				if i >= 0 {
					p.out = slices.Delete(p.out, i, i+1)
					p.free++
				}
			}), func(any, int64) { u.rest() }, nil)
	})
}

func (p *permits) release(u *user, d *random) {
	id, latch := u.id, p.w.name("redisson_unlock_latch:{"+p.name+"}:")
	u.id, u.trust = "", 0
	u.do(d, false, u.script(p, p.users, "permitRelease", append(p.keys(), latch),
		[]string{publish, "20000", id}, func(reply any) {
			want := int64(0)
			i := p.find(id)
			if answer, ok := p.w.latched(latch); ok {
				want = answer
			} else if i >= 0 {
				if p.out[i].end > p.w.server() {
					want = 1
					p.w.latch(latch, 1)
				}
				p.out = slices.Delete(p.out, i, i+1)
				p.free++
			}
			if reply != want {
				p.w.fail(ruleTotal, "%s: to release %s answers %v, not %d", p.name, id, reply, want)
			}
		}), func(any, int64) { p.w.count("permit released"); u.drop(latch) }, nil)
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
	for _, u := range p.users {
		if u.trust > p.w.now && p.find(u.id) < 0 {
			p.w.fail(ruleTrust, "%s trusts in permit %s for %d ms", u, u.id, u.trust-p.w.now)
		}
		if u.settled() && u.wakeAt > p.w.now+1+u.lag && slices.ContainsFunc(p.out, func(o permit) bool {
			return o.end <= p.w.server()
		}) {
			p.w.fail(ruleWake, "%s sleeps for %d ms, and a lease is over", u, u.wakeAt-p.w.now)
		}
	}
}
