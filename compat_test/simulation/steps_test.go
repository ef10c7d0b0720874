package simulation

import (
	"bytes"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"strings"
)

// step is one event: its actor, and the random numbers that it uses. A step is valid
// in every state of the world, so a list of steps can be shortened.
type step struct {
	who  uint16
	seed uint32
}

// Values of who that are not actors.
const (
	theClock   uint16 = 0xffff - iota
	theTimer          // of the server
	theNetwork        // delivers delayed requests
	theFault
	theProbe
	theAudit
	firstSpecial
)

// plan is a course of the world: its seed, and a fault for a test.
type plan struct {
	seed  uint64
	spoil func(*world) // nil: no fault
	tell  func(format string, args ...any)
}

// result is the outcome of a plan.
type result struct {
	steps  []step
	broken *violation // by the last step
	sum    uint64
	stats  map[string]int
	log    string
}

// generate makes n random steps while the world runs.
func (p plan) generate(n int) result {
	chance := rand.New(rand.NewPCG(p.seed, 0x5eed))
	return p.run(func(w *world, i int) (step, bool) {
		s := step{seed: chance.Uint32()}
		if i == n {
			return step{who: theAudit}, true
		}
		if i > n {
			return step{}, false
		}
		s.who = w.choose(chance, i)
		return s, true
	})
}

// replay runs given steps.
func (p plan) replay(steps []step) result {
	return p.run(func(_ *world, i int) (step, bool) {
		if i < len(steps) {
			return steps[i], true
		}
		return step{}, false
	})
}

func (w *world) choose(chance *rand.Rand, i int) uint16 {
	switch n := chance.IntN(1000); {
	case i%1000 == 999:
		return theAudit
	case n < 90:
		return theClock
	case n < 110:
		return theTimer
	case n < 130:
		return theNetwork
	case n < 136:
		return theFault
	case n < 150:
		return theProbe
	}
	for range 20 {
		if at := chance.IntN(len(w.actors)); w.actors[at].ready() {
			return uint16(at)
		}
	}
	return theClock
}

// run runs steps until there are none left, or one breaks an invariant.
func (p plan) run(next func(*world, int) (step, bool)) (r result) {
	var log bytes.Buffer
	w := newWorld(scriptsOfRlock(),
		slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelError})))
	w.furnish(p.seed)
	if p.spoil != nil {
		p.spoil(w)
	}
	w.tell = p.tell
	for i := 0; ; i++ {
		s, ok := next(w, i)
		if !ok {
			w.close()
			break
		}
		r.steps = append(r.steps, s)
		if r.broken = w.try(s); r.broken != nil {
			break // the world may be in the middle of a command: it is not used any more
		}
	}
	r.sum, r.stats, r.log = w.sum, w.stats, log.String()
	return r
}

// try runs a step and returns the invariant that it breaks.
func (w *world) try(s step) (broken *violation) {
	defer func() {
		switch cause := recover().(type) {
		case nil:
		case violation:
			broken = &cause
		default:
			panic(cause)
		}
	}()
	w.take(s)
	return nil
}

func (w *world) take(s step) {
	w.note([]byte(fmt.Sprint(s.who, w.now)))
	if w.before != nil {
		w.before()
	}
	d := random(s.seed)
	if w.tell != nil {
		w.tell("%s at %d ms", w.whose(s.who), w.now-epoch)
	}
	switch s.who {
	case theClock:
		w.turn(&d)
	case theTimer:
		w.e.Outside(w.e.EndDue)
	case theNetwork:
		w.arrive(&d)
	case theFault:
		w.fault(&d)
	case theProbe:
		w.probe(&d)
	case theAudit:
		w.audit()
	default:
		if int(s.who) < len(w.actors) {
			w.actors[s.who].step(&d)
		}
	}
}

// turn lets time pass: a little, up to a deadline, a millisecond before or after it,
// or far.
func (w *world) turn(d *random) {
	ms := int64(d.n(4))
	switch n := d.n(1000); {
	case n < 500:
	case n < 650:
		ms = int64(d.n(40))
	case n < 800:
		w.e.Outside(func() {
			if at, ok := w.e.NextDeadline(); ok {
				ms = at - w.server() + pick[int64](d, -1, 0, 1)
			}
		})
	case n < 950:
		if at := w.actors[d.n(len(w.actors))].due(); at > 0 {
			ms = at - w.now + pick[int64](d, -1, 0, 1)
		}
	case n < 995:
		ms = int64(d.n(500))
	default:
		ms = int64(d.n(20_000))
	}
	if ms > 1000 && d.in(90) {
		ms = int64(d.n(300))
	}
	w.pass(max(ms, 0))
	for _, l := range w.locks {
		l.checkTimes()
	}
}

// fault makes a fault of the server or a connection.
func (w *world) fault(d *random) {
	switch n := d.n(20); {
	case n == 0:
		w.count("scripts flushed")
		l := w.dial(2, nil)
		l.do("SCRIPT", "FLUSH")
		l.hangUp()
	case n == 1:
		w.count("expiry switched")
		w.lazy = !w.lazy
		w.e.Outside(func() { w.e.Env().Deadline.SetActive(!w.lazy) })
	case n == 2:
		w.setBack(int64(d.n(50)))
	default:
		w.actors[d.n(len(w.actors))].fault(d)
	}
}

// setBack sets the server's clock back. Keys that have expired stay expired.
func (w *world) setBack(ms int64) {
	if w.lazy {
		return // keys not yet expired would exist again
	}
	w.count("clock set back")
	w.e.Outside(w.e.EndDue)
	for _, l := range w.locks {
		l.lapse()
	}
	w.behind += ms
	w.pass(0)
}

// furnish adds the actors to the world.
func (w *world) furnish(seed uint64) {
	chance := rand.New(rand.NewPCG(seed, 0xf00d))
	small := [][]string{{"512", "128"}, {"0", "0"}, {"2", "2"}}[chance.IntN(3)]
	admin := w.dial(2, nil)
	admin.do("CONFIG", "SET", "hash-max-listpack-entries", small[0], "zset-max-listpack-entries",
		small[1])
	admin.hangUp()
	var plains []*lock
	for _, of := range []struct {
		kind           lockKind
		locks, clients int
	}{{plain, 6, 6}, {plain, 3, 1}, {spin, 3, 5}, {fenced, 3, 5}, {fair, 6, 8}, {readWrite, 6, 7}} {
		for range of.locks {
			l := w.newLock(of.kind)
			for range of.clients {
				w.actors = append(w.actors, w.newLocker(l))
			}
			if of.kind == plain {
				plains = append(plains, l)
			}
		}
	}
	for i := range 10 {
		w.actors = append(w.actors, w.newMulti([]*lock{plains[5+i%4], plains[5+(i+1+i%3)%4]}))
	}
	for i := range 2 {
		w.newSemaphore(3, 6)
		w.newPermits(2, 6)
		w.newCountdown(6)
		w.newRate(5, int64(200+2000*i), 5)
	}
}

func (w *world) newLock(kind lockKind) *lock {
	l := &lock{w: w, kind: kind, name: w.name(kind.String())}
	switch kind {
	case fenced:
		l.keys = []string{"redisson_lock_token:{" + l.name + "}"}
	case fair:
		l.keys = []string{"redisson_lock_queue:{" + l.name + "}",
			"redisson_lock_timeout:{" + l.name + "}"}
		l.patience = []int64{300, 5000, 300_000}[w.serial%3]
	}
	w.locks = append(w.locks, l)
	return l
}

// String prints steps for LOCKREDIS_SIMULATION_STEPS.
func written(steps []step) string {
	var b strings.Builder
	for i, s := range steps {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%d.%x", s.who, s.seed)
	}
	return b.String()
}

// whose returns the name of a step's actor.
func (w *world) whose(who uint16) string {
	if who > firstSpecial {
		return [...]string{"the clock", "the timer", "the network", "a fault", "a probe",
			"an audit"}[0xffff-who]
	}
	if int(who) < len(w.actors) {
		return fmt.Sprint(w.actors[who])
	}
	return "unknown actor"
}

func readSteps(text string) ([]step, error) {
	var steps []step
	for _, word := range strings.Split(text, ",") {
		who, chances, _ := strings.Cut(word, ".")
		n, err := strconv.ParseUint(who, 10, 16)
		if err != nil {
			return nil, err
		}
		seed, err := strconv.ParseUint(chances, 16, 32)
		if err != nil {
			return nil, err
		}
		steps = append(steps, step{uint16(n), uint32(seed)})
	}
	return steps, nil
}
