package faults

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/compat_test/rlock/tcpproxy"
	"github.com/lockredis/lockredis/compat_test/rlock/topology"
	"github.com/lockredis/lockredis/internal/redistest"
)

// Variable is the environment variable with the number of acquisitions of each kind on
// each topology.
const Variable = "LOCKREDIS_FAULTS"

// shortCount is the number without Variable in make check, plainCount in a plain go test.
// Then servers have no faults.
const (
	shortCount = 150
	plainCount = 6
)

// TestNoHoldOverlapsAndNoLockStaysFree runs each kind on each enabled topology: with
// faults of the network, of processes and of servers.
func TestNoHoldOverlapsAndNoLockStaysFree(t *testing.T) { runCampaigns(t, false) }

// TestNoRequestTakesALockWithoutAnOwner has faults of the network only and a long lease. So
// a lock that is granted to no owner, or a lost wake-up, shows as a long wait.
func TestNoRequestTakesALockWithoutAnOwner(t *testing.T) {
	redistest.SkipUnlessWhole(t)
	runCampaigns(t, true)
}

func runCampaigns(t *testing.T, calm bool) {
	t.Helper()
	short := plainCount
	if redistest.Whole() {
		short = shortCount
	} else {
		t.Parallel()
	}
	count, seed := number(t, Variable, short), uint64(number(t, Variable+"_SEED", 1))
	kinds := campaignKinds
	if redistest.Quick() && os.Getenv(Variable) == "" {
		kinds = []kind{plainLock, fairLock} // the other kinds take seconds
	}
	if text := os.Getenv(Variable + "_KINDS"); text != "" {
		kinds = nil
		for _, word := range strings.Split(text, ",") {
			kinds = append(kinds, kind(word))
		}
	}
	var table sync.Map
	t.Cleanup(func() { printTable(t, &table) })
	topology.Parallel(t, nil, func(t *testing.T, tp *topology.Topology) {
		for _, k := range kinds {
			if k == quorumLock && tp.Replicated() {
				continue // the servers of a quorum are independent
			}
			t.Run(string(k), func(t *testing.T) {
				// The kinds of a topology are not parallel: many campaigns that share the
				// processors find waits that are the machine's and not the client's.
				row := newCampaign(t, tp, k, count, seed, calm).run()
				t.Log(row)
				table.Store(fmt.Sprintf("%s %02d", tp.Kind, slices.Index(campaignKinds, k)), row)
			})
		}
	})
}

// number returns the number in an environment variable, or def.
func number(t *testing.T, variable string, def int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return def
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return n
}

func printTable(t *testing.T, table *sync.Map) {
	rows := map[string]string{}
	table.Range(func(key, row any) bool { rows[key.(string)] = row.(string); return true })
	text := "| kind | topology | acquisitions | faults | lost holds | violations " +
		"| longest wait for a free lock |\n" +
		"|---|---|--:|--:|--:|--:|--:|\n"
	for _, key := range slices.Sorted(maps.Keys(rows)) {
		text += rows[key]
	}
	t.Log("\n" + text)
}

// run runs the campaign and returns its line of the table.
func (c *campaign) run() string {
	ctx := context.Background()
	if c.counts() {
		for _, name := range c.names {
			if err := c.tryFor(func() error {
				return c.nodes[0].process().permits(c.kind, name).set(ctx, c.rules.capacity)
			}); err != nil {
				c.t.Fatal(err)
			}
		}
	}
	var nemeses, all sync.WaitGroup
	if !c.calm {
		nemeses.Go(c.disturbProcesses)
		nemeses.Go(c.disturbServers)
	}
	for _, n := range c.nodes {
		for worker := range workers {
			all.Go(func() { n.work(worker) })
		}
	}
	all.Wait()
	c.ended.Store(true)
	nemeses.Wait()
	for _, n := range c.nodes {
		n.process().net.Heal()
		n.shutDown()
		n.process().net.Heal()
	}
	ran := c.rec.now()
	c.lookForRemains()
	for _, n := range c.nodes {
		n.process().close(ctx)
	}
	return c.report(ran)
}

// tryFor tries f until it succeeds, for a minute.
func (c *campaign) tryFor(f func() error) error {
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		err := f()
		if err == nil || time.Now().After(end) {
			return err
		}
	}
}

// lookForRemains acquires everything once more and then looks for keys and permits that
// are left over.
func (c *campaign) lookForRemains() {
	p := c.nodes[0].process()
	start := c.rec.now()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if c.counts() {
		for _, name := range c.names {
			left, start := -1, c.rec.now()
			err := c.tryFor(func() (err error) {
				ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
				defer cancel()
				left, err = p.permits(c.kind, name).available(ctx)
				if left != c.rules.capacity && err == nil {
					err = fmt.Errorf("%d", left)
				}
				return err
			})
			if took := c.rec.now() - start; err != nil || took > c.rules.free+recovery {
				c.rec.violate("conserved", fmt.Sprintf("%s: %d of %d permits are available (%v) after %s",
					name, left, c.rules.capacity, err, took))
			}
		}
	} else {
		var all sync.WaitGroup
		for _, name := range c.names {
			all.Go(func() {
				h, err := c.acquirer(p, step{names: []string{name}})(ctx, patient)
				if took := c.rec.now() - start; err != nil || took > c.rules.free {
					text := fmt.Sprintf("%s: acquired %s after the end: %v", name, took, err)
					c.rec.violate("remains", text)
				}
				if err == nil {
					h.release(ctx)
				}
			})
		}
		all.Wait()
	}
	var remains []string
	for end := c.rec.now() + c.rules.free; ; time.Sleep(20 * time.Millisecond) {
		remains = c.remains(ctx)
		if len(remains) == 0 || c.rec.now() > end {
			break
		}
	}
	for _, key := range remains {
		c.rec.violate("remains", key)
	}
}

// remains returns the keys of the campaign that should not exist at its end. Permits,
// counters of tokens, and latches that expire may exist.
func (c *campaign) remains(ctx context.Context) (remains []string) {
	for _, rdb := range c.direct {
		keys, err := keysOf(ctx, rdb, fmt.Sprintf("*%s:%d:*", c.kind, c.seed))
		if err != nil {
			return []string{err.Error()}
		}
		for _, key := range keys {
			ttl := rdb.PTTL(ctx, key).Val()
			isLock := slices.Contains(c.names, key) && !c.counts() ||
				strings.Contains(key, "queue") || strings.Contains(key, "redisson_lock_timeout") ||
				strings.Contains(key, "rwlock_timeout")
			hasEnd := ttl > 0 || ttl == -2 || strings.Contains(key, "token") ||
				c.counts() && slices.Contains(c.names, key)
			if isLock && ttl != -2 || !hasEnd {
				remains = append(remains, fmt.Sprintf("%s is left over, with a time to live of %s", key, ttl))
			}
		}
	}
	return remains
}

// keysOf returns the keys that match a pattern, in a cluster from all masters.
func keysOf(ctx context.Context, rdb redis.UniversalClient, pattern string) (keys []string, err error) {
	cluster, ok := rdb.(*redis.ClusterClient)
	if !ok {
		return rdb.Keys(ctx, pattern).Result()
	}
	var mu sync.Mutex
	err = cluster.ForEachMaster(ctx, func(ctx context.Context, n *redis.Client) error {
		some, err := n.Keys(ctx, pattern).Result()
		mu.Lock()
		defer mu.Unlock()
		keys = append(keys, some...)
		return err
	})
	return keys, err
}

// report fails the test for violations and returns the line of the table.
func (c *campaign) report(ran time.Duration) string {
	v := c.rec.check(c.rules)
	faults := c.faults()
	const most = 8 // of a rule
	broken := map[string]int{}
	for _, x := range v.violations {
		if broken[x.rule]++; broken[x.rule] > most {
			continue
		}
		c.t.Errorf("%s at %s: %s%s", x.rule, round(x.at), x.what, c.around(x.at))
	}
	if len(broken) > 0 {
		c.t.Logf("violations of each rule: %v", broken)
	}
	kinds := map[string]int{}
	for _, n := range c.networks {
		for k, count := range n.Counts() {
			if count > 0 {
				kinds[fmt.Sprint(tcpproxy.Kind(k))] += count
			}
		}
	}
	for _, e := range c.rec.events {
		kinds[e.what]++
	}
	c.t.Logf("%d acquisitions in %s, overlap after a loss of data %s, by a late scheduler %s, "+
		"errors %v, faults %v",
		len(c.rec.grants), round(ran), round(v.afterLoss), round(v.late), c.rec.errs, kinds)
	return fmt.Sprintf("| %s | %s | %d | %d | %d | %d | %.1f s |\n", c.kind, c.tp.Kind, len(c.rec.grants),
		faults, v.lost, len(v.violations), v.longest.Seconds())
}

// around names the events of the 3 s before a time.
func (c *campaign) around(at time.Duration) string {
	var texts []string
	for _, e := range c.rec.events {
		if e.from < at && at-3*time.Second < e.to {
			who := " of a server"
			if e.process >= 0 {
				who = fmt.Sprintf(" of process %d", e.process)
			}
			texts = append(texts, fmt.Sprintf("%s%s %s to %s", e.what, who, round(e.from), round(e.to)))
		}
	}
	if len(texts) == 0 {
		return ""
	}
	return "\n  events: " + strings.Join(texts, "; ")
}
