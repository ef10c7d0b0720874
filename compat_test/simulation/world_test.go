package simulation

import (
	"fmt"
	"log/slog"
	"strings"

	"github.com/lockredis/lockredis/internal/engine"
)

// world is a server and its clients. Only a step changes it.
type world struct {
	e       *engine.Engine
	clock   *clock
	caller  engine.Caller
	scripts map[string]script

	now    int64 // on the clients' clocks, Unix ms
	behind int64 // how far the server's clock was set back, ms
	lazy   bool  // keys expire only on access

	actors   []actor
	locks    []*lock
	orphans  []orphan // copies of requests that may still arrive
	place    int64    // of the last change of a lease
	book     book
	latches  map[string]latchAnswer
	listener *link // receives the events of expired keys
	serial   int   // for names
	dials    int   // connections so far

	// tell receives a text for each event; nil: not used.
	tell func(format string, args ...any)

	before func() // called before each step: a planted fault
	sum    uint64 // checksum of the server's output and its times
	stats  map[string]int
}

// actor is a model client.
type actor interface {
	ready() bool
	// due returns when it acts next; 0: never, or now.
	due() int64
	step(d *random)
	// fault makes a fault of its connections.
	fault(d *random)
}

// orphan is a copy of a request that may still arrive, until its latch expires.
type orphan struct {
	call  *call
	until int64
}

// call is a script with its keys and arguments. prepare runs before every run of the
// script, effect after it. prepare may be nil.
type call struct {
	script     string
	keys, args []string
	prepare    func()
	effect     func(reply any)
	from       *hold // may be nil
}

// violation is a broken invariant, and the value with which a step panics.
type violation struct{ rule, text string }

func (v violation) String() string { return v.rule + ": " + v.text }

func (w *world) fail(rule, format string, args ...any) {
	panic(violation{rule, fmt.Sprintf(format, args...)})
}

// The invariants.
const (
	ruleOwner = "one owner"          // or only readers
	ruleTrust = "a lease that holds" // an owner that trusts its lease is the owner as stored
	// the stored data agrees with the replies: owners, counts, deadlines
	ruleStored = "as stored"
	ruleOwned  = "an owner that knows"     // no hold is stored that its client does not know
	ruleReply  = "a true reply"            // a reply agrees with the stored data
	ruleQueue  = "first come first served" // fair locks and parked clients
	ruleWake   = "waiters are woken"       // no waiter sleeps beside a free lock, or after its TTL
	// no key is visible after its deadline, and its expiry is published once
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

// name returns a new name.
func (w *world) name(prefix string) string {
	w.serial++
	return fmt.Sprintf("%s%d", prefix, w.serial)
}

// execute runs a call on the server once, by its hash, and records its effect.
func (w *world) execute(l *link, c *call) any {
	s, ok := w.scripts[c.script]
	if !ok {
		panic("no script " + c.script)
	}
	if !s.fits(c) {
		panic(fmt.Sprintf("script %s has %d keys and %d arguments, not %q and %q", c.script, s.keys, s.args,
			c.keys, c.args))
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

// latchAnswer is the reply that a latch keeps.
type latchAnswer struct {
	answer, until int64
	sealed        bool  // it is no reply, but acquire scripts refuse
	place         int64 // of the last change of the lease; sealed only
}

// latched returns the reply that a latch keeps.
func (w *world) latched(key string) (int64, bool) {
	l := w.latches[key]
	if l.until <= w.server() {
		return 0, false
	}
	return l.answer, true
}

// answered is latched for a script that overwrites a seal.
func (w *world) answered(key string) (int64, bool) {
	n, ok := w.latched(key)
	return n, ok && !w.latches[key].sealed
}

// latchTime is the time to live of latches, in ms. No copy of a request arrives later.
const latchTime = 20_000

// shortCallTime is the time to live of the latch of a plain release that names only the owner:
// the script's default, in ms.
const shortCallTime = 300_000

func (w *world) latch(key string, answer int64) { w.latchFor(key, answer, latchTime) }

func (w *world) latchFor(key string, answer, ms int64) {
	w.latches[key] = latchAnswer{answer: answer, until: w.server() + ms}
}

// order records the place of a change of a lease. The latch then is no reply either.
func (w *world) order(key string, place int64) {
	w.latches[key] = latchAnswer{until: w.server() + latchTime, sealed: true, place: place}
}

// seal records the reply of a seal.
func (w *world) seal(key string, reply any) {
	_, existed := w.latched(key)
	if reply != int64(1) != existed {
		w.fail(ruleReply, "a seal of %s, which existed: %v, answers %v", key, existed, reply)
	}
	if !existed {
		w.latches[key] = latchAnswer{until: w.server() + latchTime, sealed: true}
	}
}

// sealLonger seals a claim. A latch that exists keeps its value and lives longer.
func (w *world) sealLonger(key string) {
	l := latchAnswer{sealed: true}
	if _, ok := w.latched(key); ok {
		l = w.latches[key]
	}
	l.until = w.server() + latchTime
	w.latches[key] = l
}

// counted records the reply of a request that counts once: change makes its effect and
// returns its reply.
func (w *world) counted(latch string, reply any, change func() int64) {
	want, again := w.answered(latch)
	if !again {
		want = change()
		w.latch(latch, want)
	}
	if reply != want {
		w.fail(ruleTotal, "the request %s answers %v, not %d; again: %v", latch, reply, want, again)
	}
}

// random makes a step's own random numbers, so that the step does the same in any list
// of steps.
type random uint64

func (d *random) next() uint64 { // splitmix64
	*d += 0x9e3779b97f4a7c15
	z := uint64(*d)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// n returns a number below k.
func (d *random) n(k int) int { return int(d.next() % uint64(k)) }

// in reports true with a probability of per cent.
func (d *random) in(percent int) bool { return d.n(100) < percent }

func pick[T any](d *random, list ...T) T { return list[d.n(len(list))] }
