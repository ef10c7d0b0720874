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

func (w *world) newLatch(users int) {
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
		u.do(d, true, u.script(l, l.users, "latchTrySet", l.keys(), []string{publish, itoa(set)},
			func(reply any) {
				was := l.count
				if was == 0 {
					l.count = set
				}
				if (was == 0) != (reply == int64(1)) {
					l.w.fail(ruleReply, "%s with %d left answers %v", l.name, was, reply)
				}
			}), func(any, int64) {}, func() {})
	case n < 7:
		u.do(d, true, u.script(l, l.users, "latchCountDown", l.keys(), []string{publish},
			func(reply any) {
				if reply != l.count-1 {
					l.w.fail(ruleTotal, "%s is counted down to %v, not %d", l.name, reply, l.count-1)
				}
				l.count = max(l.count-1, 0)
			}), func(any, int64) {}, func() {})
	default:
		u.giveUp = l.w.now + 5000
		l.ask(u, d)
	}
	if !u.waits {
		u.restUp = l.w.now + int64(d.n(100))
	}
}

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
	w.execute(l, &call{script: "rateTrySet", keys: r.keys(),
		args: []string{itoa(allowed), itoa(interval), "0", "0"}, effect: func(any) {}})
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

func (r *rate) act(u *user, d *random) {
	u.want = 1 + int64(d.n(int(r.rate)))
	r.ask(u, d)
}

func (r *rate) ask(u *user, d *random) {
	n, request := u.want, r.w.request()
	is := func(g grant) bool { return g.request == request }
	args := []string{itoa(n), request}
	u.do(d, false, u.script(r, r.users, "rateAcquire", r.keys(), args, func(reply any) {
		if slices.ContainsFunc(r.given, is) {
			if reply != nil {
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
	}), func(reply any, _ int64) {
		u.restUp = r.w.now + int64(d.n(50))
		if delay, refused := reply.(int64); refused {
			r.w.count("rate refused")
			u.restUp = r.w.now + delay
		} else {
			r.w.count("rate granted")
		}
	}, func() {
		u.do(d, false, u.script(r, r.users, "rateUndo", r.keys(), args, func(any) {
			r.given = slices.DeleteFunc(r.given, is)
		}), func(any, int64) {}, nil)
	})
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
