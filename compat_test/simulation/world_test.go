package simulation

import (
	"fmt"
	"log/slog"
	"strings"

	"github.com/lockredis/lockredis/internal/engine"
)

// world is a server and those who use it. A step changes it; nothing else does.
type world struct {
	e       *engine.Engine
	clock   *clock
	caller  engine.Caller
	scripts map[string]script

	now    int64 // by the clients' clocks, Unix ms
	behind int64 // by how much the server's clock was set back, ms
	lazy   bool  // keys expire when somebody looks, only

	actors   []actor
	locks    []*lock
	orphans  []orphan // requests under way whose sender is gone
	book     book
	latches  map[string]latchAnswer
	listener *link // hears of expired keys
	serial   int   // for names
	dials    int   // connections so far

	// tell is told what happens; nil: nobody asks.
	tell func(format string, args ...any)

	before func() // each step: a planted fault
	sum    uint64 // of all that the server sent, and when
	stats  map[string]int
}

// actor is a model client.
type actor interface {
	ready() bool
	// due returns when it has something to do next, 0: never, or now.
	due() int64
	step(d *dice)
	// mishap has something happen to its connections.
	mishap(d *dice)
}

// orphan is a request that may still arrive.
type orphan struct{ call *call }

// call is a script with its keys and arguments. Around every run prepare is
// called, which may be nil, and effect.
type call struct {
	script     string
	keys, args []string
	prepare    func()
	effect     func(reply any)
	from       *hold // may be nil
}

// violation is a broken invariant, and what a step panics with.
type violation struct{ rule, text string }

func (v violation) String() string { return v.rule + ": " + v.text }

func (w *world) fail(rule, format string, args ...any) {
	panic(violation{rule, fmt.Sprintf(format, args...)})
}

// The invariants.
const (
	ruleOwner = "one owner"          // or readers only
	ruleTrust = "a lease that holds" // who trusts its lease is the owner as stored
	// what is stored is what the replies say: owners, counts, deadlines
	ruleStored = "as stored"
	ruleReply  = "a true reply"            // a reply tells what is stored
	ruleQueue  = "first come first served" // fair locks and parked clients
	ruleWake   = "nobody sleeps on"        // beside a free lock, beyond its TTL
	// no key past its deadline is visible, and its end is told, once
	ruleExpiry  = "expired is gone"
	ruleTotal   = "nothing lost" // permits, rates, elements
	ruleIndexes = "indexes agree"
	rulePanic   = "no panic"
)

func newWorld(scripts map[string]script, log *slog.Logger) *world {
	w := &world{
		clock: &clock{epoch}, now: epoch, scripts: scripts,
		latches: map[string]latchAnswer{}, book: book{at: map[string]int{}},
		stats: map[string]int{}, sum: 14695981039346656037,
	}
	w.e = newEngine(w.clock, log)
	w.listener = w.dial(2, w.expired)
	admin := w.dial(2, nil)
	admin.do("CONFIG", "SET", "notify-keyspace-events", "Ex")
	w.listener.do("SUBSCRIBE", "__keyevent@0__:expired")
	admin.hangUp()
	return w
}

func (w *world) close() {
	w.e.Close()
}

// note adds to the checksum.
func (w *world) note(b []byte) {
	for _, c := range b {
		w.sum = (w.sum ^ uint64(c)) * 1099511628211
	}
}

func (w *world) count(what string) { w.stats[what]++ }

// server returns the server's time in Unix ms.
func (w *world) server() int64 { return w.now - w.behind }

// pass lets time pass.
func (w *world) pass(ms int64) {
	w.now += ms
	w.clock.millis = w.server()
}

// name returns a name that was not used before.
func (w *world) name(prefix string) string {
	w.serial++
	return fmt.Sprintf("%s%d", prefix, w.serial)
}

// execute runs a call on the server once, by its hash, and has its effect noted.
func (w *world) execute(l *link, c *call) any {
	s, ok := w.scripts[c.script]
	if !ok {
		panic("no script " + c.script)
	}
	words := make([]string, 0, 3+len(c.keys)+len(c.args))
	words = append(words, "EVALSHA", s.sha, fmt.Sprint(len(c.keys)))
	words = append(append(words, c.keys...), c.args...)
	if c.prepare != nil {
		c.prepare()
	}
	reply := l.run(words)
	if text, failed := reply.(failure); failed && strings.HasPrefix(string(text), "NOSCRIPT") {
		w.count("noscript")
		l.do("SCRIPT", "LOAD", s.body)
		reply = l.run(words)
	}
	if text, failed := reply.(failure); failed {
		w.fail(ruleReply, "%s%v%v answers %s", c.script, c.keys, c.args, text)
	}
	c.effect(reply)
	for _, key := range c.keys {
		w.observe(key)
	}
	return reply
}

// latchAnswer is what an unlock's latch keeps.
type latchAnswer struct{ answer, until int64 }

// latched returns the answer that a latch keeps.
func (w *world) latched(key string) (int64, bool) {
	l, ok := w.latches[key]
	return l.answer, ok && l.until > w.server()
}

const latchTime = 20_000

func (w *world) latch(key string, answer int64) {
	w.latches[key] = latchAnswer{answer, w.server() + latchTime}
}

// dice are a step's own chances, so that a step does the same wherever it stands.
type dice uint64

func (d *dice) next() uint64 { // splitmix64
	*d += 0x9e3779b97f4a7c15
	z := uint64(*d)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// n returns a number below k.
func (d *dice) n(k int) int { return int(d.next() % uint64(k)) }

// in reports whether something happens that does so per cent times of a hundred.
func (d *dice) in(percent int) bool { return d.n(100) < percent }

func pick[T any](d *dice, list ...T) T { return list[d.n(len(list))] }
