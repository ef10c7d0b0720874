package simulation

import (
	"slices"

	"github.com/lockredis/lockredis/store"
)

// latch counts down to zero, where its waiters continue.
type latch struct {
	w     *world
	name  string
	count int64
	users []*user
}

func (w *world) newCountdown(users int) {
	l := &latch{w: w, name: w.name("latch")}
	l.users = w.use(l, users)
}

func (l *latch) channel() string    { return "redisson_countdownlatch__channel__{" + l.name + "}" }
func (l *latch) freeFor(*user) bool { return l.count == 0 }
func (l *latch) forget(*user)       {}
func (l *latch) keys() []string     { return []string{l.name, l.channel()} }

func (l *latch) act(u *user, d *random) {
	switch n := d.n(10); {
	case n < 3:
		set := 1 + int64(d.n(4))
		l.change(u, d, "counter_create", func() int64 {
			if l.count > 0 {
				return 0
			}
			l.count = set
			return 1
		}, itoa(set), "1")
	case n < 7:
		l.change(u, d, "countdown_down", func() int64 {
			left := l.count - 1
			l.count = max(left, 0)
			return left
		})
	default:
		u.giveUp = l.w.now + 5000
		l.ask(u, d)
	}
	if !u.waits {
		u.restUp = l.w.now + int64(d.n(100))
	}
}

// change sends a request that counts once.
func (l *latch) change(u *user, d *random, name string, effect func() int64, args ...string) {
	c := &claim{latch: l.w.newLatch(l.name)}
	k := u.script(l, l.users, name, append(l.keys(), c.latch), append([]string{publish, life}, args...),
		func(reply any) { l.w.counted(c.latch, reply, effect) })
	u.change(d, k, c, func(any, int64) { u.sweep(d, c) })
}

func (l *latch) end(u *user, _ *random) { u.rest() }

func (l *latch) ask(u *user, _ *random) {
	u.reconnect()
	switch reply := u.cmd.do("GET", l.name); {
	case reply == nil && l.count == 0:
		if u.waits {
			l.w.count("latch opened")
		}
		u.rest()
	case reply == itoa(l.count) && l.count > 0:
		u.sleep(u.giveUp+1, 0)
	default:
		l.w.fail(ruleReply, "%s says %v, not %d", l.name, reply, l.count)
	}
}

func (l *latch) check() {
	if n := l.w.number(l.name); n != l.count {
		l.w.fail(ruleTotal, "%s has %d left, not %d", l.name, n, l.count)
	}
}

// rate grants a number of permits in each interval.
type rate struct {
	w              *world
	name           string
	rate, interval int64
	given          []grant
	users          []*user
}

// grant is permits granted by a rate, until the interval ends.
type grant struct {
	request string
	at, n   int64
}

func (w *world) newRate(allowed, interval int64, users int) {
	r := &rate{w: w, name: w.name("rate"), rate: allowed, interval: interval}
	r.users = w.use(r, users)
	l := w.dial(2, nil)
	w.execute(l, &call{script: "rate_try_set", keys: []string{r.name, w.newLatch(r.name)},
		args: []string{itoa(allowed), itoa(interval), "0", "0", life}, effect: func(any) {}})
	l.hangUp()
}

func (r *rate) keys() []string {
	value, permits := "{"+r.name+"}:value", "{"+r.name+"}:permits"
	return []string{r.name, value, value + ":c", permits, permits + ":c"}
}

func (r *rate) channel() string    { return "no channel of " + r.name }
func (r *rate) forget(*user)       {}
func (r *rate) freeFor(*user) bool { return false } // waiters are not woken
func (r *rate) free() (n int64) {
	n = r.rate
	for _, g := range r.given {
		n -= g.n
	}
	return n
}

func (r *rate) end(u *user, _ *random) { u.rest() }

func (r *rate) act(u *user, d *random) {
	if u.id == "" {
		u.want = 1 + int64(d.n(int(r.rate)))
		u.id = r.w.request()
		u.claim = &claim{latch: "redisson_unlock_latch:{" + r.name + "}:" + u.id}
	}
	r.ask(u, d)
}

// ask asks for permits. After a refusal the claim asks again when they are free, or it
// ends.
func (r *rate) ask(u *user, d *random) {
	n, request, c := u.want, u.id, u.claim
	is := func(g grant) bool { return g.request == request }
	keys, args := append(r.keys(), c.latch), []string{itoa(n), request}
	undo := func() {
		u.do(d, u.script(r, r.users, "rate_undo", keys, append(args, life), func(reply any) {
			r.w.counted(c.latch, reply, func() int64 {
				if !slices.ContainsFunc(r.given, is) {
					return 0
				}
				r.given = slices.DeleteFunc(r.given, is)
				return 1
			})
		}), c, func(any, int64) {
			r.w.count("rate undone")
			u.id = ""
			u.sweep(d, c)
		}, nil)
	}
	u.do(d, u.script(r, r.users, "rate_acquire", keys, args, func(reply any) {
		if _, over := r.w.latched(c.latch); over {
			if reply != int64(-4) {
				r.w.fail(ruleReply, "%s: %v to a claim that is over", r.name, reply)
			}
			return
		}
		r.granted(reply, n, request)
	}), c, func(reply any, _ int64) {
		u.restUp = r.w.now + int64(d.n(50))
		delay, refused := reply.(int64)
		switch {
		case delay == -4:
			r.w.fail(ruleReply, "%s tells %s that its claim is over", r.name, u)
		case refused && d.in(50):
			r.w.count("rate refused")
			u.restUp = r.w.now + delay
		case refused && c.strays > 0:
			undo()
		case !refused && c.strays > 0: // a late copy must not take permits of a later interval
			r.w.count("rate sealed")
			u.do(d, &call{script: "seal", keys: []string{c.latch}, args: []string{life},
				effect: func(reply any) { r.w.seal(c.latch, reply) }}, nil,
				func(any, int64) { u.id = "" }, nil)
		default:
			u.id = ""
			if !refused {
				r.w.count("rate granted")
			}
		}
	}, undo)
}

// granted records the reply to a request for n permits.
func (r *rate) granted(reply any, n int64, request string) {
	if slices.ContainsFunc(r.given, func(g grant) bool { return g.request == request }) {
		if reply != "" {
			r.w.fail(ruleReply, "%s: %v to one who was let through", r.name, reply)
		}
		return
	}
	r.given = slices.DeleteFunc(r.given, func(g grant) bool {
		return g.at <= r.w.server()-r.interval
	})
	delay, refused := reply.(int64)
	last := r.w.server() // in the future, if the clock was set back since
	for _, g := range r.given {
		last = max(last, g.at)
	}
	switch free := r.free(); {
	case refused != (free < n), refused && (delay < 1 || delay > last+r.interval-r.w.server()):
		r.w.fail(ruleTotal, "%s has %d of %d left, and answers %v to one who wants %d", r.name, free,
			r.rate, reply, n)
	case !refused:
		r.given = append(r.given, grant{request, r.w.server(), n})
	}
}

func (r *rate) check() {
	e := r.w.e.Env().Space.DB(0).Peek([]byte(r.keys()[3]))
	n := 0
	if e != nil {
		n = e.Value().(*store.ZSet).Len()
	}
	if free := r.w.number(r.keys()[1]); n != len(r.given) || n > 0 && free != r.free() {
		r.w.fail(ruleTotal, "%s has %d given out and %d left, not %d and %d", r.name, n, free,
			len(r.given), r.free())
	}
}
