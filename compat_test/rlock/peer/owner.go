package peer

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

// Kind is a kind of lock in the peer's words.
type Kind string

// The kinds of locks. A multi-lock's name is a list of lock names with commas.
const (
	Lock   Kind = "lock"
	Fair   Kind = "fair"
	Read   Kind = "read"
	Write  Kind = "write"
	Spin   Kind = "spin"
	Fenced Kind = "fenced"
	Multi  Kind = "multi"
)

// Watched is the lease of a lock that the watchdog renews.
const Watched time.Duration = -1

// Owner is a Java thread, and so an owner of locks. It does its steps one after
// the other.
type Owner struct {
	peer *Peer
	tb   testing.TB
	name string
}

// Thread returns the owner of that name; the thread is made by its first step.
// Names have no spaces. What goes wrong with the owner fails tb, which may be a
// subtest of the test that started the peer.
func (p *Peer) Thread(tb testing.TB, name string) *Owner { return &Owner{p, tb, name} }

// Step is something an owner is doing.
type Step struct {
	owner  *Owner
	answer chan Answer
}

// Wait returns what came of the step. It may be called once. No answer within
// a minute is an error.
func (s *Step) Wait() Answer {
	return s.owner.peer.wait(s.answer, answerLimit)
}

// Within is Wait for at most so long; false is that there was no answer yet.
func (s *Step) Within(limit time.Duration) (Answer, bool) {
	select {
	case a := <-s.answer:
		return a, true
	case <-time.After(limit):
		return Answer{}, false
	}
}

// Begin starts a step in the peer's words: kind, verb, name, arguments. Times
// are milliseconds.
func (o *Owner) Begin(words ...any) *Step {
	for i, word := range words {
		if d, ok := word.(time.Duration); ok {
			words[i] = milliseconds(d)
		}
	}
	return &Step{o, o.peer.send(o.name, words)}
}

// Try does a step and returns its answer, exceptions included.
func (o *Owner) Try(words ...any) Answer {
	o.tb.Helper()
	return o.Begin(words...).Wait()
}

// Ask does a step and returns its result; an exception fails the test.
func (o *Owner) Ask(words ...any) string {
	o.tb.Helper()
	answer := o.Try(words...)
	if answer.Err != nil {
		o.tb.Fatalf("Java thread %s: %v: %v", o.name, words, answer.Err)
	}
	return answer.Result
}

func milliseconds(d time.Duration) int64 {
	if d == Watched {
		return -1
	}
	return d.Milliseconds()
}

// ThreadID returns the thread's number: the owner's name in Redis is the peer's
// ID, a colon, and this.
func (o *Owner) ThreadID() int64 { return o.number("thread") }

// Interrupt interrupts what the thread is doing: a wait ends with Java's
// InterruptedException.
func (o *Owner) Interrupt() { o.Ask("interrupt") }

// Lock waits for the lock and returns the fencing token, of a fenced lock.
func (o *Owner) Lock(kind Kind, name string, lease time.Duration) (token string) {
	o.tb.Helper()
	return o.Ask(kind, "lock", name, lease)
}

// BeginLock starts to wait for the lock.
func (o *Owner) BeginLock(kind Kind, name string, lease time.Duration) *Step {
	return o.Begin(kind, "lock", name, lease)
}

// TryLock waits for the lock at most so long and reports whether it has it.
func (o *Owner) TryLock(kind Kind, name string, wait, lease time.Duration) bool {
	o.tb.Helper()
	return o.yes(kind, "trylock", name, wait, lease)
}

// Unlock releases the lock once; not holding it fails the test.
func (o *Owner) Unlock(kind Kind, name string) {
	o.tb.Helper()
	o.Ask(kind, "unlock", name)
}

// ForceUnlock releases the lock whoever holds it and reports whether anybody did.
func (o *Owner) ForceUnlock(kind Kind, name string) bool {
	o.tb.Helper()
	return o.yes(kind, "forceunlock", name)
}

// Holds reports whether this thread holds the lock.
func (o *Owner) Holds(kind Kind, name string) bool {
	o.tb.Helper()
	return o.yes(kind, "isheld", name)
}

// IsLocked reports whether anybody holds the lock.
func (o *Owner) IsLocked(kind Kind, name string) bool {
	o.tb.Helper()
	return o.yes(kind, "islocked", name)
}

// HoldCount returns how many times this thread holds the lock.
func (o *Owner) HoldCount(kind Kind, name string) int64 {
	o.tb.Helper()
	return o.number(kind, "holdcount", name)
}

// BeginCount starts to add one to a counter so many times, by GET and SET under
// the lock. The kind may also be "semaphore" or "permit", of one permit each.
func (o *Owner) BeginCount(kind Kind, name, counter string, times int) *Step {
	return o.Begin("count", kind, name, counter, times)
}

// Counter returns what a counter has come to.
func (o *Owner) Counter(counter string) int64 {
	o.tb.Helper()
	return o.number("counter", counter)
}

// AcquirePermits waits for so many permits of an expirable semaphore and returns
// their ids.
func (o *Owner) AcquirePermits(name string, n int, lease time.Duration) []string {
	o.tb.Helper()
	return strings.Split(o.Ask("permit", "acquire", name, n, lease), ",")
}

// ReleasePermits gives the permits back.
func (o *Owner) ReleasePermits(name string, ids ...string) {
	o.tb.Helper()
	o.Ask("permit", "release", name, strings.Join(ids, ","))
}

func (o *Owner) yes(words ...any) bool {
	o.tb.Helper()
	return o.Ask(words...) == "true"
}

func (o *Owner) number(words ...any) int64 {
	o.tb.Helper()
	result := o.Ask(words...)
	n, err := strconv.ParseInt(result, 10, 64)
	if err != nil {
		o.tb.Fatalf("Java thread %s: %v: %q is no number", o.name, words, result)
	}
	return n
}
