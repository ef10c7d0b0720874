package faults

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/compat_test/rlock/tcpproxy"
	"github.com/lockredis/lockredis/compat_test/rlock/topology"
	"github.com/lockredis/lockredis/internal/redistest"
	"github.com/lockredis/lockredis/internal/stall"
)

// In rlock 0.1 each Lock and each Unlock took 1 s.
func TestAStoppedReplicaDelaysNothing(t *testing.T) {
	t.Parallel()
	if !topology.Asked(t, string(topology.Single)) {
		t.Skipf("not asked for: %s; set %s", topology.Single, topology.Variable)
	}
	master := redistest.Start(t)
	host, port, _ := strings.Cut(master.Addr, ":")
	var replicas []*redistest.Server
	for range 2 {
		replicas = append(replicas, redistest.Start(t, "--replicaof", host+" "+port,
			"--repl-diskless-sync-delay", "0"))
	}
	rdb := redis.NewClient(&redis.Options{Addr: master.Addr})
	defer rdb.Close()
	await(t, 20*time.Second, "two replicas are in step", func() bool {
		rdb.Incr(t.Context(), "step")
		return rdb.Do(t.Context(), "wait", 2, 100).Val() == int64(2)
	})
	c := newClient(rdb, clientOptions{synced: true})
	defer c.close(t.Context())
	must[hold](t, "acquire")(c.lock(plainLock, "warm").acquire(t.Context(), patient)).release(t.Context())
	signal(t, "-STOP", replicas[0].PID)
	defer signal(t, "-CONT", replicas[0].PID)
	clock := stall.Watch(t)
	for _, k := range []kind{plainLock, fairLock, writeLock, spinLock, fencedLock} {
		start := clock.Running()
		h := must[hold](t, "acquire")(c.lock(k, string(k)).acquire(t.Context(), patient))
		acquired := clock.Running() - start
		start = clock.Running()
		if err := h.release(t.Context()); err != nil {
			t.Error(err)
		}
		if released := clock.Running() - start; acquired > 500*time.Millisecond || released > 500*time.Millisecond {
			t.Errorf("%s: acquired in %s, released in %s", k, acquired, released)
		}
	}
}

func signal(t *testing.T, name string, pid int) {
	t.Helper()
	if out, err := exec.Command("kill", name, strconv.Itoa(pid)).CombinedOutput(); err != nil {
		t.Fatalf("kill %s: %v: %s", name, err, out)
	}
}

// In rlock 0.1 41 EOFs reached callers.
func TestCutConnectionsToAClusterDoNotReachCallers(t *testing.T) {
	t.Parallel()
	s := stageOf(t, topology.Cluster)
	p := s.process(clientOptions{})
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	var mu sync.Mutex
	done, failed := 0, map[string]int{}
	var workers sync.WaitGroup
	for _, name := range names(6) {
		workers.Go(func() {
			l := p.lock(plainLock, name)
			for ctx.Err() == nil {
				h, err := l.acquire(t.Context(), patient)
				if err == nil {
					err = h.release(t.Context())
				}
				mu.Lock()
				done++
				if err != nil {
					failed[err.Error()]++
				}
				mu.Unlock()
			}
		})
	}
	for ctx.Err() == nil {
		within(ctx.Done(), 20*time.Millisecond)
		p.net.Drop()
	}
	workers.Wait()
	t.Logf("%d pairs", done)
	if len(failed) > 0 {
		t.Errorf("of %d pairs failed %v", done, failed)
	}
}

// In rlock 0.1 Lock returned CLUSTERDOWN at once, 184 times in 40 s.
func TestAnAcquisitionWaitsThroughAFailoverOfACluster(t *testing.T) {
	t.Parallel()
	s := stageOf(t, topology.Cluster)
	p := s.process(clientOptions{lease: 3 * time.Second})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var mu sync.Mutex
	done, failed := 0, map[string]int{}
	var workers sync.WaitGroup
	for _, name := range names(4) {
		workers.Go(func() {
			l := p.lock(plainLock, name)
			for ctx.Err() == nil {
				h, err := l.acquire(t.Context(), patient)
				mu.Lock()
				done++
				if err != nil {
					failed[err.Error()]++
				}
				mu.Unlock()
				if err == nil {
					h.release(t.Context())
				} else {
					within(ctx.Done(), 10*time.Millisecond)
				}
			}
		})
	}
	s.tp.AwaitNewMaster(t, "orders:0", s.tp.KillMaster(t, "orders:0"))
	within(ctx.Done(), time.Second)
	cancel()
	workers.Wait()
	s.tp.Heal(t)
	t.Logf("%d acquisitions", done)
	if len(failed) > 0 {
		t.Errorf("of %d acquisitions failed %v", done, failed)
	}
}

// In rlock 0.1 unlocking failed with -OOM.
func TestReleasingWorksAtMaxmemory(t *testing.T) {
	t.Parallel()
	for _, k := range []kind{plainLock, fairLock, readLock, writeLock, spinLock, fencedLock, multiLock} {
		t.Run(string(k), func(t *testing.T) {
			s := single(t)
			p := s.process(clientOptions{})
			l := p.lock(k, names(2)...)
			s.warmUp(p, l)
			h := s.acquire(l)
			if err := s.direct.ConfigSet(t.Context(), "maxmemory", "1").Err(); err != nil {
				t.Fatal(err)
			}
			defer s.direct.ConfigSet(t.Context(), "maxmemory", "0")
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if err := h.release(ctx); err != nil {
				t.Errorf("release: %v", err)
			}
			if n := s.direct.Exists(t.Context(), names(2)...).Val(); n != 0 {
				t.Error("the lock is still held")
			}
		})
	}
}

// In rlock 0.1 there were 925 new connections for messages in 22,700 short waits.
func TestShortWaitsReuseTheConnectionForMessages(t *testing.T) {
	t.Parallel()
	s := single(t)
	p, holder := s.process(clientOptions{}), s.process(clientOptions{})
	var mu sync.Mutex
	subscribed := map[int]bool{} // connections that sent SUBSCRIBE
	p.net.Apply(func(c tcpproxy.Command) tcpproxy.Fault {
		if strings.HasSuffix(c.Name(), "subscribe") {
			mu.Lock()
			defer mu.Unlock()
			subscribed[c.Conn] = true
		}
		return tcpproxy.Fault{}
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	var waits atomic.Int64
	var workers sync.WaitGroup
	for _, name := range names(8) {
		held := s.acquire(holder.lock(plainLock, name))
		workers.Go(func() {
			for ctx.Err() == nil {
				p.lock(plainLock, name).acquire(t.Context(), how{wait: 2 * time.Millisecond})
				waits.Add(1)
			}
			held.release(t.Context())
		})
	}
	workers.Wait()
	p.close(t.Context())
	mu.Lock()
	defer mu.Unlock()
	t.Logf("%d connections for messages in %d waits of 2 ms", len(subscribed), waits.Load())
	if len(subscribed) > 5 {
		t.Errorf("short waits made %d connections for messages", len(subscribed))
	}
}

// In rlock 0.1 each contended lock had a connection.
func TestContendedLocksOfAClusterShareConnections(t *testing.T) {
	t.Parallel()
	s := stageOf(t, topology.Cluster)
	p, holder := s.process(clientOptions{}), s.process(clientOptions{})
	var all []hold
	var waiters sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, name := range names(24) {
		all = append(all, s.acquire(holder.lock(plainLock, name)))
		waiters.Go(func() { p.lock(plainLock, name).acquire(ctx, patient) })
	}
	subscribed := func() (channels, conns int) {
		for _, n := range s.tp.Nodes {
			reply, err := n.Do("CLIENT", "LIST", "TYPE", "PUBSUB")
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(fmt.Sprint(reply)) {
				conns++
				_, rest, _ := strings.Cut(line, " ssub=")
				text, _, _ := strings.Cut(rest, " ")
				n, _ := strconv.Atoi(text)
				channels += n
			}
		}
		return channels, conns
	}
	await(t, 10*time.Second, "24 waiters subscribe", func() bool {
		channels, _ := subscribed()
		return channels >= 24
	})
	if _, conns := subscribed(); conns > 6 {
		t.Errorf("24 contended locks have %d connections for messages", conns)
	}
	cancel()
	waiters.Wait()
	for _, h := range all {
		s.release(h)
	}
}

// statOf returns the number of calls of a command in INFO commandstats.
func statOf(info, command string) int64 {
	_, rest, ok := strings.Cut(info, "cmdstat_"+command+":calls=")
	if !ok {
		return 0
	}
	text, _, _ := strings.Cut(rest, ",")
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}
