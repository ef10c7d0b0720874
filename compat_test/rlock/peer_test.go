package rlock_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis/compat_test/rlock/peer"
	"github.com/lockredis/lockredis/compat_test/rlock/topology"
)

// name has no hash tag. Redisson's latch adds braces to every name, so a name with a
// tag would give two slots (CROSSSLOT in a cluster).
const name = "orders:42"

// each runs the test with two JVMs, one for each release, on every topology.
func each(t *testing.T, test func(t *testing.T, tp *topology.Topology, one, two *peer.Peer)) {
	t.Helper()
	peer.Need(t)
	topology.Each(t, func(t *testing.T, tp *topology.Topology) {
		old, recent := peer.Releases()[0], peer.Releases()[1]
		test(t, tp, peer.Start(t, old, tp.Redisson(), peer.Watchdog(3*time.Second)),
			peer.Start(t, recent, tp.Redisson(), peer.Watchdog(3*time.Second)))
	})
}

func TestTwoPeersUnderstandEachOther(t *testing.T) {
	each(t, func(t *testing.T, tp *topology.Topology, one, two *peer.Peer) {
		parts := []struct {
			name string
			test func(t *testing.T, one, two *peer.Peer)
		}{
			{"every kind of lock excludes", excludes},
			{"every kind of lock counts exactly", counts},
			{"readers share and a writer waits", shares},
			{"fencing tokens grow", fences},
			{"a force unlock wakes the waiter", forces},
			{"an interrupt ends a wait", interrupts},
			{"a semaphore's release wakes the other", signals},
			{"permits are told apart", tellsPermits},
			{"a latch opens for the other", opens},
			{"a rate holds for both", limits},
			{"a killed peer's lock ends with its lease", dies}, // the last part: it ends one
		}
		for _, part := range parts {
			runPart(t, tp, part.name, func(t *testing.T) { part.test(t, one, two) })
		}
	})
}

func TestOwnersNameIsIDAndThread(t *testing.T) {
	peer.Need(t)
	tp := topology.Start(t, topology.Lockredis)
	p := peer.Start(t, peer.Releases()[1], tp.Redisson())
	owner := p.Thread(t, "a")
	owner.Lock(peer.Lock, name, time.Minute)
	owners, err := tp.Client(t).HKeys(t.Context(), name).Result()
	if want := fmt.Sprintf("%s:%d", p.ID, owner.ThreadID()); err != nil || len(owners) != 1 ||
		owners[0] != want {
		t.Errorf("the lock's owners are %v (error %v), want %s", owners, err, want)
	}
}

func TestExceptionsArriveAsFailures(t *testing.T) {
	peer.Need(t)
	tp := topology.Start(t, topology.Lockredis)
	p := peer.Start(t, peer.Releases()[1], tp.Redisson())
	var failure *peer.Failure
	answer := p.Thread(t, "a").Try(peer.Lock, "unlock", name)
	if !errors.As(answer.Err, &failure) ||
		!strings.Contains(failure.Exception, "IllegalMonitorStateException") {
		t.Errorf("unlock of a free lock: %v, want IllegalMonitorStateException", answer.Err)
	}
	p.Kill()
	if answer := p.Thread(t, "a").Try("thread"); !errors.Is(answer.Err, peer.ErrGone) {
		t.Errorf("call after Kill: %v, want %v", answer.Err, peer.ErrGone)
	}
}

func excludes(t *testing.T, one, two *peer.Peer) {
	for _, kind := range []peer.Kind{peer.Lock, peer.Fair, peer.Write, peer.Spin, peer.Fenced} {
		lock := name + ":" + string(kind)
		a, b := one.Thread(t, "a"), two.Thread(t, "b")
		a.Lock(kind, lock, peer.Watched)
		if b.TryLock(kind, lock, 100*time.Millisecond, peer.Watched) {
			t.Errorf("%s: two owners hold the lock", kind)
		}
		waiting := b.BeginLock(kind, lock, time.Minute)
		if _, early := waiting.Within(100 * time.Millisecond); early {
			t.Errorf("%s: the second owner's lock call did not wait", kind)
		}
		released := time.Now()
		a.Unlock(kind, lock)
		answer := waiting.Wait()
		t.Logf("%s: handed over in %s", kind, answer.Ended.Sub(released).Round(time.Millisecond/10))
		if answer.Err != nil || !b.Holds(kind, lock) || a.Holds(kind, lock) ||
			b.HoldCount(kind, lock) != 1 {
			t.Errorf("%s: the lock did not pass to the waiter: %v", kind, answer.Err)
		}
		b.Unlock(kind, lock)
		if a.IsLocked(kind, lock) {
			t.Errorf("%s: the lock is held after the last unlock", kind)
		}
	}
}

func counts(t *testing.T, one, two *peer.Peer) {
	const times = 30
	one.Thread(t, "a").Ask("semaphore", "set", name+":semaphore", 1)
	one.Thread(t, "a").Ask("permit", "set", name+":permit", 1)
	for _, kind := range []peer.Kind{peer.Lock, peer.Fair, peer.Write, peer.Fenced, peer.Multi,
		"semaphore", "permit"} {
		lock, counter := name+":"+string(kind), name+":counter:"+string(kind)
		if kind == peer.Multi {
			lock += "1," + lock + "2"
		}
		var steps []*peer.Step
		for _, p := range []*peer.Peer{one, two} {
			for _, thread := range []string{"a", "b"} {
				steps = append(steps, p.Thread(t, thread).BeginCount(kind, lock, counter, times))
			}
		}
		for _, step := range steps {
			if answer := step.Wait(); answer.Err != nil {
				t.Errorf("%s: %v", kind, answer.Err)
			}
		}
		if got := one.Thread(t, "a").Counter(counter); got != 4*times {
			t.Errorf("%s: the counter is %d, want %d", kind, got, 4*times)
		}
	}
}

func shares(t *testing.T, one, two *peer.Peer) {
	a, b, c := one.Thread(t, "a"), two.Thread(t, "b"), two.Thread(t, "c")
	a.Lock(peer.Read, name, peer.Watched)
	if !b.TryLock(peer.Read, name, 0, peer.Watched) {
		t.Fatal("a second reader could not acquire the read lock")
	}
	writing := c.BeginLock(peer.Write, name, time.Minute)
	b.Unlock(peer.Read, name)
	if _, early := writing.Within(100 * time.Millisecond); early {
		t.Error("the writer's lock call returned while a reader holds the lock")
	}
	a.Unlock(peer.Read, name)
	if answer := writing.Wait(); answer.Err != nil {
		t.Error(answer.Err)
	}
	if a.TryLock(peer.Read, name, 0, peer.Watched) {
		t.Error("a reader acquired the lock while the writer holds it")
	}
	c.Unlock(peer.Write, name)
}

func fences(t *testing.T, one, two *peer.Peer) {
	for i, owner := range []*peer.Owner{one.Thread(t, "a"), two.Thread(t, "a"), one.Thread(t, "b")} {
		if token := owner.Lock(peer.Fenced, name, time.Minute); token != fmt.Sprint(i+1) {
			t.Errorf("the fencing token is %s, want %d", token, i+1)
		}
		owner.Unlock(peer.Fenced, name)
	}
}

func forces(t *testing.T, one, two *peer.Peer) {
	a, b := one.Thread(t, "a"), two.Thread(t, "b")
	a.Lock(peer.Lock, name, time.Minute)
	waiting := b.BeginLock(peer.Lock, name, time.Minute)
	if _, early := waiting.Within(100 * time.Millisecond); early {
		t.Error("the waiter's lock call returned while the lock is held")
	}
	if !two.Thread(t, "c").ForceUnlock(peer.Lock, name) {
		t.Error("forceUnlock of a held lock returned false")
	}
	if answer, done := waiting.Within(5 * time.Second); !done || answer.Err != nil {
		t.Errorf("the waiter did not acquire the lock after forceUnlock: %v", answer.Err)
	}
	b.Unlock(peer.Lock, name)
}

func interrupts(t *testing.T, one, two *peer.Peer) {
	one.Thread(t, "a").Lock(peer.Fair, name, time.Minute)
	waiter := two.Thread(t, "b")
	waiting := waiter.BeginLock(peer.Fair, name, time.Minute)
	if _, early := waiting.Within(200 * time.Millisecond); early {
		t.Error("the waiter's lock call returned while the lock is held")
	}
	waiter.Interrupt()
	if answer := waiting.Wait(); answer.Err == nil ||
		!strings.Contains(answer.Err.Error(), "InterruptedException") {
		t.Errorf("the interrupted waiter: %v, want InterruptedException", answer.Err)
	}
	one.Thread(t, "a").Unlock(peer.Fair, name)
}

func signals(t *testing.T, one, two *peer.Peer) {
	a, b := one.Thread(t, "a"), two.Thread(t, "b")
	if a.Ask("semaphore", "set", name, 2) != "true" || b.Ask("semaphore", "set", name, 9) != "false" {
		t.Error("the first set of the permits failed, or a second succeeded")
	}
	a.Ask("semaphore", "acquire", name, 2)
	if b.Ask("semaphore", "tryacquire", name, 1, 50) != "false" {
		t.Error("a third permit of two was acquired")
	}
	waiting := b.Begin("semaphore", "acquire", name, 2)
	a.Ask("semaphore", "release", name, 2)
	if answer := waiting.Wait(); answer.Err != nil {
		t.Error(answer.Err)
	}
	b.Ask("semaphore", "add", name, 3)
	if got := b.Ask("semaphore", "drain", name); got != "3" {
		t.Errorf("drain returned %s permits, want 3", got)
	}
}

func tellsPermits(t *testing.T, one, two *peer.Peer) {
	a, b := one.Thread(t, "a"), two.Thread(t, "b")
	a.Ask("permit", "set", name, 3)
	ids := a.AcquirePermits(name, 2, time.Minute)
	short := b.AcquirePermits(name, 1, 300*time.Millisecond)
	if len(ids) != 2 || len(short) != 1 || a.Ask("permit", "available", name) != "0" {
		t.Errorf("permits %v and %v are acquired, and some are still available", ids, short)
	}
	if b.Ask("permit", "update", name, ids[0], 500) != "true" {
		t.Error("the update of a permit's lease failed")
	}
	if id := b.Ask("permit", "tryacquire", name, 1, 5000, 60_000); id == "" {
		t.Error("an expired permit could not be acquired again")
	}
	a.ReleasePermits(name, ids[1])
	if b.Ask("permit", "tryrelease", name, short[0]) != "false" {
		t.Error("an expired permit was released")
	}
}

func opens(t *testing.T, one, two *peer.Peer) {
	a, b := one.Thread(t, "a"), two.Thread(t, "b")
	a.Ask("latch", "set", name, 2)
	waiting := b.Begin("latch", "await", name, 30_000)
	a.Ask("latch", "countdown", name)
	if count := a.Ask("latch", "count", name); count != "1" {
		t.Errorf("the count is %s, want 1", count)
	}
	two.Thread(t, "c").Ask("latch", "countdown", name)
	if answer := waiting.Wait(); answer.Err != nil || answer.Result != "true" {
		t.Errorf("await: %s, %v; want true", answer.Result, answer.Err)
	}
}

func limits(t *testing.T, one, two *peer.Peer) {
	a, b := one.Thread(t, "a"), two.Thread(t, "b")
	if a.Ask("rate", "set", name, "OVERALL", 2, 60_000) != "true" ||
		b.Ask("rate", "set", name, "OVERALL", 5, 60_000) != "false" {
		t.Error("the first set of the rate failed, or a second succeeded")
	}
	a.Ask("rate", "acquire", name, 1)
	b.Ask("rate", "acquire", name, 1)
	if a.Ask("rate", "tryacquire", name, 1, 50) != "false" || b.Ask("rate", "available", name) != "0" {
		t.Error("a third permit of two was acquired, or the available permits are not 0")
	}
}

func dies(t *testing.T, one, two *peer.Peer) {
	one.Thread(t, "a").Lock(peer.Lock, name, peer.Watched)
	waiting := two.Thread(t, "b").BeginLock(peer.Lock, name, time.Minute)
	if _, early := waiting.Within(3500 * time.Millisecond); early {
		t.Fatal("the watchdog did not renew the lock")
	}
	killed := time.Now()
	one.Kill()
	answer, done := waiting.Within(10 * time.Second)
	if after := answer.Ended.Sub(killed); !done || answer.Err != nil || after > 3500*time.Millisecond {
		t.Errorf("the waiter's lock call ended %s after the kill, want at most 3.5 s: %v", after,
			answer.Err)
	}
}
