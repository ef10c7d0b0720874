package peer

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

// Kind is a kind of lock, named as in the peer's protocol.
type Kind string

// The kinds of locks. The name of a multi-lock is a list of lock names with commas.
const (
	Lock   Kind = "lock"
	Fair   Kind = "fair"
	Read   Kind = "read"
	Write  Kind = "write"
	Spin   Kind = "spin"
	Fenced Kind = "fenced"
	Multi  Kind = "multi"
)

// Watched is the lease argument for a lock that the watchdog renews.
const Watched time.Duration = -1

// Owner is a Java thread, and so an owner of locks. It runs its steps one after the
// other.
type Owner struct {
	peer *Peer
	tb   testing.TB
	name string
}

// Thread returns the owner of that name. The first step creates the thread. Names have
// no spaces. Errors of the owner fail tb, which may be a subtest of the test that
// started the peer.
func (p *Peer) Thread(tb testing.TB, name string) *Owner { return &Owner{p, tb, name} }

// Step is an operation that an owner is running.
type Step struct {
	owner  *Owner
	answer chan Answer
}

// Wait returns the answer of the step. It may be called once. No answer within a
// minute is an error.
func (s *Step) Wait() Answer {
	return s.owner.peer.wait(s.answer, answerLimit)
}

// Within is Wait with a limit. It reports false if there is no answer yet.
func (s *Step) Within(limit time.Duration) (Answer, bool) {
	select {
	case a := <-s.answer:
		return a, true
	case <-time.After(limit):
		return Answer{}, false
	}
}

// Begin starts a step, given as words of the peer's protocol: kind, verb, name,
// arguments. Times are in milliseconds.
func (o *Owner) Begin(words ...any) *Step {
	for i, word := range words {
		if d, ok := word.(time.Duration); ok {
			words[i] = milliseconds(d)
		}
	}
	return &Step{o, o.peer.send(o.name, words)}
}

// Try runs a step and returns its answer, also an exception.
func (o *Owner) Try(words ...any) Answer {
	o.tb.Helper()
	return o.Begin(words...).Wait()
}

// Ask runs a step and returns its result. An exception fails the test.
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

// ThreadID returns the thread's number. The owner's name in Redis is the peer's ID, a
// colon and this number.
func (o *Owner) ThreadID() int64 { return o.number("thread") }

// Interrupt interrupts the thread's step: a wait ends with Java's
// InterruptedException.
func (o *Owner) Interrupt() { o.Ask("interrupt") }

// Lock waits for the lock. It returns the fencing token of a fenced lock.
func (o *Owner) Lock(kind Kind, name string, lease time.Duration) (token string) {
	o.tb.Helper()
	return o.Ask(kind, "lock", name, lease)
}

// BeginLock starts a wait for the lock.
func (o *Owner) BeginLock(kind Kind, name string, lease time.Duration) *Step {
	return o.Begin(kind, "lock", name, lease)
}

// TryLock waits for the lock up to a limit and reports whether it was acquired.
func (o *Owner) TryLock(kind Kind, name string, wait, lease time.Duration) bool {
	o.tb.Helper()
	return o.yes(kind, "trylock", name, wait, lease)
}

// Unlock unlocks the lock once. If it is not held, the test fails.
func (o *Owner) Unlock(kind Kind, name string) {
	o.tb.Helper()
	o.Ask(kind, "unlock", name)
}

// ForceUnlock releases the lock, whichever owner holds it, and reports whether it was
// held.
func (o *Owner) ForceUnlock(kind Kind, name string) bool {
	o.tb.Helper()
	return o.yes(kind, "forceunlock", name)
}

// Holds reports whether this thread holds the lock.
func (o *Owner) Holds(kind Kind, name string) bool {
	o.tb.Helper()
	return o.yes(kind, "isheld", name)
}

// IsLocked reports whether any owner holds the lock.
func (o *Owner) IsLocked(kind Kind, name string) bool {
	o.tb.Helper()
	return o.yes(kind, "islocked", name)
}

// HoldCount returns how many times this thread holds the lock.
func (o *Owner) HoldCount(kind Kind, name string) int64 {
	o.tb.Helper()
	return o.number(kind, "holdcount", name)
}

// BeginCount starts a number of increments of a counter, by GET and SET under the
// lock. The kind may also be "semaphore" or "permit", with one permit each.
func (o *Owner) BeginCount(kind Kind, name, counter string, times int) *Step {
	return o.Begin("count", kind, name, counter, times)
}

// Counter returns the value of a counter.
func (o *Owner) Counter(counter string) int64 {
	o.tb.Helper()
	return o.number("counter", counter)
}

// AcquirePermits waits for a number of permits of an expirable semaphore and returns
// their ids.
func (o *Owner) AcquirePermits(name string, n int, lease time.Duration) []string {
	o.tb.Helper()
	return strings.Split(o.Ask("permit", "acquire", name, n, lease), ",")
}

// ReleasePermits releases the permits.
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
