package rlock_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/compat_test/rlock/peer"
	"github.com/lockredis/lockredis/compat_test/rlock/topology"
	"github.com/lockredis/lockredis/rlock"
)

const (
	// wakeLimit is the limit for the median time of a wake-up from Go to Java or back.
	wakeLimit = 50 * time.Millisecond

	// silence is how long a test checks that a waiter still waits.
	silence = 100 * time.Millisecond

	// watched is the lease that both sides' watchdogs renew.
	watched = 3 * time.Second
)

// pair is a JVM and a Go client on the same servers.
type pair struct {
	tp   *topology.Topology
	rdb  redis.UniversalClient
	java *peer.Peer
	gos  *rlock.Client
}

func TestGoAndJavaUnderstandEachOther(t *testing.T) {
	peer.Need(t)
	for _, release := range peer.Releases() {
		t.Run(release, func(t *testing.T) {
			topology.Each(t, func(t *testing.T, tp *topology.Topology) { understand(t, release, tp) })
		})
	}
}

func understand(t *testing.T, release string, tp *topology.Topology) {
	p := &pair{tp: tp, rdb: tp.Client(t),
		java: peer.Start(t, release, tp.Redisson(), peer.Watchdog(watched))}
	p.gos = rlock.New(p.rdb, rlock.Options{Lease: watched})
	t.Cleanup(func() { p.gos.Close() })
	parts := []struct {
		name string
		test func(*testing.T, *pair)
	}{
		{"locks exclude and wake each other", handOver},
		{"counters are exact", countExactly},
		{"a fair queue has one order", queueFairly},
		{"readers share and writers wait", readAndWrite},
		{"a fenced lock's tokens are one row", fence},
		{"a lock is forced from the other side", force},
		{"an owner of the other side can be matched", match},
		{"semaphores wake each other", signal},
		{"permits are told apart", permits},
		{"latches open each other", open},
		{"a rate holds for both", limit},
		{"a Go lock is renewed", renewGo},
		{"a Java lock is renewed and noticed when it ends", endJava},
	}
	for _, part := range parts {
		t.Run(part.name, func(t *testing.T) {
			tp.Flush(t)
			part.test(t, p)
		})
	}
}

// goLock returns a lock of the given kind with a new owner.
func (p *pair) goLock(kind peer.Kind, name string, options ...rlock.LockOption) *rlock.Lock {
	switch kind {
	case peer.Fair:
		return p.gos.FairLock(name, options...)
	case peer.Read:
		return p.gos.RWLock(name, options...).Read()
	case peer.Write:
		return p.gos.RWLock(name, options...).Write()
	case peer.Spin:
		return p.gos.SpinLock(name, options...)
	case peer.Fenced:
		return p.gos.FencedLock(name, options...)
	}
	return p.gos.Lock(name, options...)
}

// acquired is the time and error of a Go call that waited.
type acquired struct {
	at  time.Time
	err error
}

// begin runs f on a new goroutine and returns a channel with its end.
func begin(f func(context.Context) error) <-chan acquired {
	done := make(chan acquired, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		err := f(ctx)
		done <- acquired{time.Now(), err}
	}()
	return done
}

func stillWaits[T any](t *testing.T, done <-chan T) {
	t.Helper()
	select {
	case a := <-done:
		t.Errorf("the call returned at once instead of waiting: %v", a)
	case <-time.After(silence):
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// handOver passes every kind of lock back and forth, with the other side waiting.
func handOver(t *testing.T, p *pair) {
	const rounds = 7
	ctx, owner := t.Context(), p.java.Thread(t, "a")
	for _, kind := range []peer.Kind{peer.Lock, peer.Fair, peer.Write, peer.Spin, peer.Fenced} {
		name := "orders:" + string(kind)
		l := p.goLock(kind, name)
		check(t, l.Lock(ctx))
		if owner.TryLock(kind, name, silence, peer.Watched) {
			t.Fatalf("%s: Java acquired a lock that Go holds", kind)
		}
		var toJava, toGo []time.Duration
		for range rounds {
			waiting := owner.BeginLock(kind, name, peer.Watched)
			if _, early := waiting.Within(silence); early {
				t.Fatalf("%s: Java's lock call returned while Go holds the lock", kind)
			}
			start := time.Now()
			check(t, l.Unlock(ctx))
			answer := waiting.Wait()
			check(t, answer.Err)
			toJava = append(toJava, answer.Ended.Sub(start))

			if err := l.TryLock(ctx, silence, 0); !errors.Is(err, rlock.ErrTimeout) {
				t.Fatalf("%s: Go TryLock of a lock that Java holds: %v, want %v",
					kind, err, rlock.ErrTimeout)
			}
			going := begin(l.Lock)
			stillWaits(t, going)
			released := owner.Try(kind, "unlock", name)
			check(t, released.Err)
			a := <-going
			check(t, a.err)
			toGo = append(toGo, a.at.Sub(released.Begun))
		}
		check(t, l.Unlock(ctx))
		judgeWake(t, kind, "to Java", toJava)
		judgeWake(t, kind, "to Go", toGo)
	}
}

func judgeWake(t *testing.T, kind peer.Kind, where string, took []time.Duration) {
	t.Helper()
	slices.Sort(took)
	median, last := took[len(took)/2], took[len(took)-1]
	t.Logf("%-6s %-7s median %s, longest %s", kind, where, median.Round(time.Millisecond/10),
		last.Round(time.Millisecond/10))
	// Waiters of a spin lock poll, at intervals up to 128 ms.
	if median > wakeLimit && kind != peer.Spin {
		t.Errorf("%s %s: the median wake-up takes %s, want at most %s", kind, where, median, wakeLimit)
	}
}

// countExactly makes both sides count by GET and SET under each lock.
func countExactly(t *testing.T, p *pair) {
	const times = 25
	check(t, set(p.gos.Semaphore("orders:semaphore").TrySetPermits(t.Context(), 1)))
	check(t, set(p.gos.PermitSemaphore("orders:permit").TrySetPermits(t.Context(), 1)))
	for _, kind := range []peer.Kind{peer.Lock, peer.Fair, peer.Write, peer.Spin, peer.Fenced,
		peer.Multi, "semaphore", "permit"} {
		name, counter := "orders:"+string(kind), "orders:counter:"+string(kind)
		if kind == peer.Multi {
			name = "orders:m1,orders:m2"
		}
		a := p.java.Thread(t, "a").BeginCount(kind, name, counter, times)
		b := p.java.Thread(t, "b").BeginCount(kind, name, counter, times)
		var workers sync.WaitGroup
		for range 2 {
			workers.Go(func() {
				for range times {
					if err := p.countOnce(t.Context(), kind, name, counter); err != nil {
						t.Errorf("%s: %v", kind, err)
						return
					}
				}
			})
		}
		workers.Wait()
		check(t, a.Wait().Err)
		check(t, b.Wait().Err)
		if got, err := p.rdb.Get(t.Context(), counter).Int(); got != 4*times || err != nil {
			t.Errorf("%s: the counter is %d, want %d; error %v", kind, got, 4*times, err)
		}
	}
}

func (p *pair) countOnce(ctx context.Context, kind peer.Kind, name, counter string) (err error) {
	lock, unlock := p.hold(kind, name)
	if err := lock(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock(ctx)) }()
	n, err := p.rdb.Get(ctx, counter).Int()
	if err != nil && !errors.Is(err, redis.Nil) {
		return err
	}
	return p.rdb.Set(ctx, counter, n+1, 0).Err()
}

// hold returns functions that acquire and release a lock or permit of the kind.
func (p *pair) hold(kind peer.Kind, name string) (lock, unlock func(context.Context) error) {
	switch kind {
	case peer.Multi:
		var parts []*rlock.Lock
		for _, part := range strings.Split(name, ",") {
			parts = append(parts, p.gos.Lock(part))
		}
		multi := rlock.NewMultiLock(parts...)
		return multi.Lock, multi.Unlock
	case "permit":
		s, id := p.gos.PermitSemaphore(name), ""
		return func(ctx context.Context) (err error) {
			id, err = s.Acquire(ctx, 0)
			return err
		}, func(ctx context.Context) error { return s.Release(ctx, id) }
	case "semaphore":
		s := p.gos.Semaphore(name)
		return func(ctx context.Context) error { return s.Acquire(ctx, 1) },
			func(ctx context.Context) error { return s.Release(ctx, 1) }
	}
	l := p.goLock(kind, name)
	return l.Lock, l.Unlock
}

// set returns an error if was is false.
func set(was bool, err error) error {
	if err == nil && !was {
		err = errors.New("the value was set already")
	}
	return err
}

// queueFairly queues waiters of both sides and checks the order in which they acquire.
func queueFairly(t *testing.T, p *pair) {
	const name = "orders:fair"
	ctx := t.Context()
	first := p.gos.FairLock(name)
	check(t, first.Lock(ctx))
	var mu sync.Mutex
	var order []string
	served := func(who string) {
		mu.Lock()
		defer mu.Unlock()
		order = append(order, who)
	}
	var workers sync.WaitGroup
	want := []string{"java 0", "go 1", "java 2", "go 3", "go 4", "java 5"}
	for place, who := range want {
		if strings.HasPrefix(who, "go") {
			l := p.gos.FairLock(name)
			workers.Go(func() {
				if err := l.Lock(ctx); err != nil {
					t.Errorf("%s: %v", who, err)
					return
				}
				served(who)
				if err := l.Unlock(ctx); err != nil {
					t.Errorf("%s: %v", who, err)
				}
			})
		} else {
			owner := p.java.Thread(t, "fair"+strconv.Itoa(place))
			waiting := owner.BeginLock(peer.Fair, name, time.Minute)
			workers.Go(func() {
				if answer := waiting.Wait(); answer.Err != nil {
					t.Errorf("%s: %v", who, answer.Err)
					return
				}
				served(who)
				if answer := owner.Try(peer.Fair, "unlock", name); answer.Err != nil {
					t.Errorf("%s: %v", who, answer.Err)
				}
			})
		}
		p.awaitQueue(t, name, int64(place+1))
	}
	check(t, first.Unlock(ctx))
	workers.Wait()
	if !slices.Equal(order, want) {
		t.Errorf("waiters acquired in the order %v, want %v", order, want)
	}
}

func (p *pair) awaitQueue(t *testing.T, name string, length int64) {
	t.Helper()
	awaitThat(t, "a queue of "+strconv.FormatInt(length, 10)+" waiters", func() bool {
		return p.rdb.LLen(t.Context(), "redisson_lock_queue:{"+name+"}").Val() == length
	})
}

func awaitThat(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !condition(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("timeout after 20 s: waited for %s", what)
		}
	}
}

func readAndWrite(t *testing.T, p *pair) {
	const name = "orders:rw"
	ctx, owner := t.Context(), p.java.Thread(t, "a")
	read, write := p.goLock(peer.Read, name), p.goLock(peer.Write, name)

	check(t, read.Lock(ctx))
	owner.Lock(peer.Read, name, peer.Watched)
	writing := begin(write.Lock)
	stillWaits(t, writing)
	check(t, read.Unlock(ctx))
	stillWaits(t, writing)
	owner.Unlock(peer.Read, name)
	check(t, (<-writing).err)

	reading := owner.BeginLock(peer.Read, name, peer.Watched)
	other := begin(read.Lock)
	stillWaits(t, other)
	check(t, write.Unlock(ctx))
	check(t, reading.Wait().Err)
	check(t, (<-other).err)

	writer := p.java.Thread(t, "b")
	javaWriting := writer.BeginLock(peer.Write, name, peer.Watched)
	owner.Unlock(peer.Read, name)
	if _, early := javaWriting.Within(silence); early {
		t.Error("Java's lock call of the write lock returned while Go holds the read lock")
	}
	check(t, read.Unlock(ctx))
	check(t, javaWriting.Wait().Err)
	if err := read.TryLock(ctx, 0, 0); !errors.Is(err, rlock.ErrTimeout) {
		t.Errorf("Go TryLock of the read lock while Java holds the write lock: %v, want %v",
			err, rlock.ErrTimeout)
	}
	writer.Unlock(peer.Write, name)
}

func fence(t *testing.T, p *pair) {
	const name = "orders:fenced"
	l := p.gos.FencedLock(name)
	for want := int64(1); want < 7; want += 2 {
		check(t, l.Lock(t.Context()))
		if l.Token() != want {
			t.Errorf("Go's fencing token is %d, want %d", l.Token(), want)
		}
		check(t, l.Unlock(t.Context()))
		owner := p.java.Thread(t, "a")
		if token := owner.Lock(peer.Fenced, name, peer.Watched); token != strconv.FormatInt(want+1, 10) {
			t.Errorf("Java's fencing token is %s, want %d", token, want+1)
		}
		owner.Unlock(peer.Fenced, name)
	}
}

func force(t *testing.T, p *pair) {
	ctx, owner := t.Context(), p.java.Thread(t, "a")
	for _, kind := range []peer.Kind{peer.Lock, peer.Fair, peer.Read, peer.Write, peer.Spin,
		peer.Fenced} {
		name := "orders:forced:" + string(kind)
		l := p.goLock(kind, name)
		check(t, l.Lock(ctx))
		lost := l.Lost()
		if !owner.ForceUnlock(kind, name) {
			t.Errorf("%s: Java ForceUnlock of Go's lock returned false", kind)
		}
		select {
		case <-lost:
		case <-time.After(watched):
			t.Errorf("%s: Go's Lost channel stayed open for a whole lease", kind)
		}
		if err := l.Unlock(ctx); !errors.Is(err, rlock.ErrLockLost) {
			t.Errorf("%s: Go Unlock after the forced unlock: %v, want %v", kind, err, rlock.ErrLockLost)
		}
		owner.Lock(kind, name, peer.Watched)
		if forced, err := l.ForceUnlock(ctx); !forced || err != nil {
			t.Errorf("%s: Go ForceUnlock of Java's lock: %v, %v; want true, nil", kind, forced, err)
		}
		// Redisson's fair lock treats a missing lock like one that was just released.
		if answer := owner.Try(kind, "unlock", name); answer.Err == nil && kind != peer.Fair {
			t.Errorf("%s: Java's unlock succeeded after Go's forced unlock", kind)
		}
	}
}

// match makes a Go owner with a Java thread's name.
func match(t *testing.T, p *pair) {
	const name = "orders:matched"
	ctx, owner := t.Context(), p.java.Thread(t, "a")
	same := rlock.New(p.rdb, rlock.Options{ID: p.java.ID})
	t.Cleanup(func() { same.Close() })
	l := same.Lock(name, rlock.WithOwner(owner.ThreadID()))
	owner.Lock(peer.Lock, name, time.Minute)
	if held, err := l.HeldByMe(ctx); !held || err != nil {
		t.Errorf("HeldByMe of a Go owner with the Java thread's name: %v, %v; want true, nil", held, err)
	}
	check(t, l.Lock(ctx))
	if count := owner.HoldCount(peer.Lock, name); count != 2 {
		t.Errorf("the hold count is %d, want 2", count)
	}
	check(t, l.Unlock(ctx))
	owner.Unlock(peer.Lock, name)
}

func signal(t *testing.T, p *pair) {
	const name = "orders:permits"
	ctx, owner, s := t.Context(), p.java.Thread(t, "a"), p.gos.Semaphore("orders:permits")
	check(t, set(s.TrySetPermits(ctx, 2)))
	check(t, s.Acquire(ctx, 2))
	waiting := owner.Begin("semaphore", "acquire", name, 2)
	if _, early := waiting.Within(silence); early {
		t.Error("Java's acquire returned while Go holds both permits")
	}
	start := time.Now()
	check(t, s.Release(ctx, 2))
	answer := waiting.Wait()
	check(t, answer.Err)
	t.Logf("Java was woken in %s", answer.Ended.Sub(start))
	going := begin(func(ctx context.Context) error { return s.Acquire(ctx, 1) })
	stillWaits(t, going)
	owner.Ask("semaphore", "release", name, 2)
	check(t, (<-going).err)
	if n, err := s.Available(ctx); n != 1 || err != nil ||
		owner.Ask("semaphore", "available", name) != "1" {
		t.Errorf("Go sees %d available permits (%v), or Java does not see 1", n, err)
	}
}

func permits(t *testing.T, p *pair) {
	const name = "orders:expirable"
	ctx, owner, s := t.Context(), p.java.Thread(t, "a"), p.gos.PermitSemaphore("orders:expirable")
	check(t, set(s.TrySetPermits(ctx, 2)))
	id, err := s.Acquire(ctx, time.Minute)
	check(t, err)
	short := owner.AcquirePermits(name, 1, 400*time.Millisecond)
	if _, err := s.TryAcquire(ctx, 0, 0); !errors.Is(err, rlock.ErrTimeout) {
		t.Errorf("Go acquired a third permit of two: %v, want %v", err, rlock.ErrTimeout)
	}
	// Java's permit ends with its lease, and Go then acquires it.
	second, err := s.TryAcquire(ctx, 5*time.Second, time.Minute)
	check(t, err)
	if owner.Ask("permit", "tryrelease", name, short[0]) != "false" {
		t.Error("Java released a permit whose lease has ended")
	}
	if owner.Ask("permit", "update", name, second, 50_000) != "true" {
		t.Error("Java could not update the lease of Go's permit")
	}
	waiting := owner.Begin("permit", "acquire", name, 1, 60_000)
	if _, early := waiting.Within(silence); early {
		t.Error("Java's acquire returned while no permit was available")
	}
	check(t, s.Release(ctx, id))
	answer := waiting.Wait()
	check(t, answer.Err)
	owner.ReleasePermits(name, second)
	check(t, s.Release(ctx, answer.Result))
	if n, err := s.Available(ctx); n != 2 || err != nil {
		t.Errorf("available permits: %d, %v; want 2", n, err)
	}
}

func limit(t *testing.T, p *pair) {
	const name = "orders:rate"
	ctx, owner, r := t.Context(), p.java.Thread(t, "a"), p.gos.RateLimiter("orders:rate")
	check(t, set(r.TrySetRate(ctx, rlock.RateConfig{Rate: 3, Interval: time.Minute})))
	if owner.Ask("rate", "set", name, "OVERALL", 9, 60_000) != "false" {
		t.Error("Java set a rate that Go has set already")
	}
	check(t, r.TryAcquire(ctx, 1, 0))
	if owner.Ask("rate", "tryacquire", name, 2, 50) != "true" ||
		owner.Ask("rate", "tryacquire", name, 1, 50) != "false" {
		t.Error("Java must acquire two of three permits after Go's first, and no third")
	}
	if err := r.TryAcquire(ctx, 1, 0); !errors.Is(err, rlock.ErrTimeout) {
		t.Errorf("Go acquired a fourth permit of three: %v, want %v", err, rlock.ErrTimeout)
	}
	if n, err := r.Available(ctx); n != 0 || err != nil ||
		owner.Ask("rate", "available", name) != "0" {
		t.Errorf("Go sees %d available permits (%v), or Java does not see 0", n, err)
	}
}

func open(t *testing.T, p *pair) {
	const name = "orders:latch"
	ctx, owner, latch := t.Context(), p.java.Thread(t, "a"), p.gos.CountDownLatch("orders:latch")
	check(t, set(latch.TrySetCount(ctx, 2)))
	waiting := owner.Begin("latch", "await", name, 30_000)
	if _, early := waiting.Within(silence); early {
		t.Error("Java's await returned before the count is 0")
	}
	check(t, latch.CountDown(ctx))
	check(t, latch.CountDown(ctx))
	if answer := waiting.Wait(); answer.Err != nil || answer.Result != "true" {
		t.Errorf("Java's await: %s, %v; want true", answer.Result, answer.Err)
	}
	owner.Ask("latch", "set", name, 1)
	going := begin(latch.Await)
	stillWaits(t, going)
	owner.Ask("latch", "countdown", name)
	check(t, (<-going).err)
}

func renewGo(t *testing.T, p *pair) {
	const name = "orders:renewed"
	ctx, owner := t.Context(), p.java.Thread(t, "a")
	for _, kind := range []peer.Kind{peer.Lock, peer.Read} {
		l := p.goLock(kind, name+string(kind))
		check(t, l.Lock(ctx))
		against := kind
		if kind == peer.Read {
			against = peer.Write
		}
		if owner.TryLock(against, name+string(kind), watched+watched/2, peer.Watched) {
			t.Errorf("%s: Java acquired Go's lock after its first lease", kind)
		}
		check(t, l.Unlock(ctx))
	}
}

func endJava(t *testing.T, p *pair) {
	const name = "orders:left"
	p.java.Thread(t, "a").Lock(peer.Lock, name, peer.Watched)
	l := p.gos.Lock(name)
	if err := l.TryLock(t.Context(), watched+watched/2, 0); !errors.Is(err, rlock.ErrTimeout) {
		t.Fatalf("Java's watchdog did not renew: %v", err)
	}
	going := begin(l.Lock)
	stillWaits(t, going)
	killed := time.Now()
	p.java.Kill()
	a := <-going
	check(t, a.err)
	if took := a.at.Sub(killed); took > watched+watched/6 {
		t.Errorf("Go acquired the killed JVM's lock after %s, want at most %s", took, watched+watched/6)
	}
	check(t, l.Unlock(t.Context()))
}
