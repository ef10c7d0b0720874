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
	t.Cleanup(func() { p.gos.Close(context.Background()) })
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
		{"semaphores wake each other", signal},
		{"permits are told apart", permits},
		{"latches open each other", open},
		{"a rate holds for both", limit},
		{"a Go lock is renewed", renewGo},
		{"a Go waiter that gives up does not delay Java", leaveQueue},
		{"two locks in opposite orders are passed on", crossOver},
		{"lost replies change no number of permits", losePermits},
		{"a Java lock is renewed and noticed when it ends", endJava},
	}
	for _, part := range parts {
		runPart(t, tp, part.name, func(t *testing.T) { part.test(t, p) })
	}
}

// runPart runs a part of a test on empty servers.
func runPart(t *testing.T, tp *topology.Topology, name string, test func(*testing.T)) {
	t.Run(name, func(t *testing.T) {
		tp.Flush(t)
		test(t)
	})
}

// goLock returns a lock of the given kind.
func (p *pair) goLock(kind peer.Kind, name string) *rlock.Lock {
	switch kind {
	case peer.Fair:
		return p.gos.FairLock(name)
	case peer.Read:
		return p.gos.RWLock(name).Read()
	case peer.Write:
		return p.gos.RWLock(name).Write()
	case peer.Spin:
		return p.gos.SpinLock(name)
	case peer.Fenced:
		return p.gos.FencedLock(name).AsLock()
	}
	return p.gos.Lock(name)
}

// acquired is the result of a Go call that waited.
type acquired struct {
	at   time.Time
	hold *rlock.Hold // of beginLock
	err  error
}

// begin runs f on a new goroutine and returns a channel with its end.
func begin(f func(context.Context) error) <-chan acquired {
	return beginWith(func(ctx context.Context) (*rlock.Hold, error) { return nil, f(ctx) })
}

// beginLock is begin for an acquisition of l.
func beginLock(l *rlock.Lock) <-chan acquired {
	return beginWith(func(ctx context.Context) (*rlock.Hold, error) { return l.Acquire(ctx) })
}

func beginWith(f func(context.Context) (*rlock.Hold, error)) <-chan acquired {
	done := make(chan acquired, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		h, err := f(ctx)
		done <- acquired{time.Now(), h, err}
	}()
	return done
}

// lock acquires l for a new owner.
func lock(t *testing.T, l *rlock.Lock, options ...rlock.Option) *rlock.Hold {
	t.Helper()
	h, err := l.Acquire(t.Context(), options...)
	check(t, err)
	return h
}

// tryFails checks that l is not free within the wait.
func tryFails(t *testing.T, l *rlock.Lock, wait time.Duration, holder string) {
	t.Helper()
	if _, err := l.Acquire(t.Context(), rlock.Wait(wait)); !errors.Is(err, rlock.ErrTimeout) {
		t.Fatalf("Go acquires %q, which %s holds: %v, want %v", l.Name(), holder, err,
			rlock.ErrTimeout)
	}
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
		held := lock(t, l)
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
			check(t, held.Release(ctx))
			answer := waiting.Wait()
			check(t, answer.Err)
			toJava = append(toJava, answer.Ended.Sub(start))

			tryFails(t, l, silence, "Java")
			going := beginLock(l)
			stillWaits(t, going)
			released := owner.Try(kind, "unlock", name)
			check(t, released.Err)
			a := <-going
			check(t, a.err)
			held = a.hold
			toGo = append(toGo, a.at.Sub(released.Begun))
		}
		check(t, held.Release(ctx))
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
		p.countTogether(t, kind, name, counter, times)
	}
}

// countTogether makes two Java threads and two goroutines count, each the given number of times.
func (p *pair) countTogether(t *testing.T, kind peer.Kind, name, counter string, times int) {
	t.Helper()
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

func (p *pair) countOnce(ctx context.Context, kind peer.Kind, name, counter string) (err error) {
	release, err := p.acquire(ctx, kind, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release(ctx)) }()
	n, err := p.rdb.Get(ctx, counter).Int()
	if err != nil && !errors.Is(err, redis.Nil) {
		return err
	}
	return p.rdb.Set(ctx, counter, n+1, 0).Err()
}

// acquire acquires a lock or permit of the kind and returns the function that releases
// it.
func (p *pair) acquire(
	ctx context.Context, kind peer.Kind, name string,
) (release func(context.Context) error, err error) {
	var h *rlock.Hold
	switch kind {
	case peer.Multi:
		h, err = p.goMulti(name).Acquire(ctx)
	case "permit":
		permit, err := p.gos.PermitSemaphore(name).Acquire(ctx, 1)
		if err != nil {
			return nil, err
		}
		return permit.Release, nil
	case "semaphore":
		s := p.gos.Semaphore(name)
		return func(ctx context.Context) error { return s.Release(ctx, 1) }, s.Acquire(ctx, 1)
	default:
		h, err = p.goLock(kind, name).Acquire(ctx)
	}
	if err != nil {
		return nil, err
	}
	return h.Release, nil
}

// goMulti returns a MultiLock. names has the names of its locks, separated by commas.
func (p *pair) goMulti(names string) *rlock.MultiLock {
	var parts []*rlock.Lock
	for name := range strings.SplitSeq(names, ",") {
		parts = append(parts, p.gos.Lock(name))
	}
	return rlock.Multi(parts...)
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
	first := lock(t, p.gos.FairLock(name))
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
			workers.Go(func() {
				err := p.gos.FairLock(name).Do(ctx, func(context.Context) error {
					served(who)
					return nil
				})
				if err != nil {
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
	check(t, first.Release(ctx))
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

	reader := lock(t, read)
	owner.Lock(peer.Read, name, peer.Watched)
	writing := beginLock(write)
	stillWaits(t, writing)
	check(t, reader.Release(ctx))
	stillWaits(t, writing)
	owner.Unlock(peer.Read, name)
	written := <-writing
	check(t, written.err)

	reading := owner.BeginLock(peer.Read, name, peer.Watched)
	other := beginLock(read)
	stillWaits(t, other)
	check(t, written.hold.Release(ctx))
	check(t, reading.Wait().Err)
	second := <-other
	check(t, second.err)

	writer := p.java.Thread(t, "b")
	javaWriting := writer.BeginLock(peer.Write, name, peer.Watched)
	owner.Unlock(peer.Read, name)
	if _, early := javaWriting.Within(silence); early {
		t.Error("Java's lock call of the write lock returned while Go holds the read lock")
	}
	check(t, second.hold.Release(ctx))
	check(t, javaWriting.Wait().Err)
	tryFails(t, read, 0, "Java")
	writer.Unlock(peer.Write, name)
}

func fence(t *testing.T, p *pair) {
	const name = "orders:fenced"
	l := p.gos.FencedLock(name)
	for want := int64(1); want < 7; want += 2 {
		check(t, l.Do(t.Context(), func(_ context.Context, token int64) error {
			if token != want {
				t.Errorf("Go's fencing token is %d, want %d", token, want)
			}
			return nil
		}))
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
		held := lock(t, l)
		if !owner.ForceUnlock(kind, name) {
			t.Errorf("%s: Java ForceUnlock of Go's lock returned false", kind)
		}
		select {
		case <-held.Lost():
		case <-time.After(watched):
			t.Errorf("%s: Go's Lost channel stayed open for a whole lease", kind)
		}
		if err := held.Release(ctx); !errors.Is(err, rlock.ErrLockLost) {
			t.Errorf("%s: Go Release after the forced unlock: %v, want %v", kind, err, rlock.ErrLockLost)
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
	first, err := s.Acquire(ctx, 1, rlock.Lease(time.Minute))
	check(t, err)
	short := owner.AcquirePermits(name, 1, 400*time.Millisecond)
	if _, err := s.Acquire(ctx, 1, rlock.Wait(0)); !errors.Is(err, rlock.ErrTimeout) {
		t.Errorf("Go acquired a third permit of two: %v, want %v", err, rlock.ErrTimeout)
	}
	// Java's permit ends with its lease, and Go then acquires it.
	held, err := s.Acquire(ctx, 1, rlock.Wait(5*time.Second), rlock.Lease(time.Minute))
	check(t, err)
	second := held.IDs()[0]
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
	check(t, first.Release(ctx))
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
	check(t, r.Acquire(ctx, 1, rlock.Wait(0)))
	if owner.Ask("rate", "tryacquire", name, 2, 50) != "true" ||
		owner.Ask("rate", "tryacquire", name, 1, 50) != "false" {
		t.Error("Java must acquire two of three permits after Go's first, and no third")
	}
	if err := r.Acquire(ctx, 1, rlock.Wait(0)); !errors.Is(err, rlock.ErrTimeout) {
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
	going := begin(func(ctx context.Context) error { return latch.Await(ctx) })
	stillWaits(t, going)
	owner.Ask("latch", "countdown", name)
	check(t, (<-going).err)
}

func renewGo(t *testing.T, p *pair) {
	const name = "orders:renewed"
	ctx, owner := t.Context(), p.java.Thread(t, "a")
	for _, kind := range []peer.Kind{peer.Lock, peer.Read} {
		held := lock(t, p.goLock(kind, name+string(kind)))
		against := kind
		if kind == peer.Read {
			against = peer.Write
		}
		if owner.TryLock(against, name+string(kind), watched+watched/2, peer.Watched) {
			t.Errorf("%s: Java acquired Go's lock after its first lease", kind)
		}
		check(t, held.Release(ctx))
	}
}

func endJava(t *testing.T, p *pair) {
	const name = "orders:left"
	p.java.Thread(t, "a").Lock(peer.Lock, name, peer.Watched)
	l := p.gos.Lock(name)
	tryFails(t, l, watched+watched/2, "Java's watchdog")
	going := beginLock(l)
	stillWaits(t, going)
	killed := time.Now()
	p.java.Kill()
	a := <-going
	check(t, a.err)
	if took := a.at.Sub(killed); took > watched+watched/6 {
		t.Errorf("Go acquired the killed JVM's lock after %s, want at most %s", took, watched+watched/6)
	}
	check(t, a.hold.Release(t.Context()))
}
