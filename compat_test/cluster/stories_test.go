package cluster

import (
	"strings"
	"testing"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/compat_test/wire"
	"github.com/lockredis/lockredis/internal/redistest"
)

const crossSlot = "CROSSSLOT Keys in request don't hash to the same slot"

// A story is what a client sent when its user reported CROSSSLOT. All commands succeed on a single server.
type story struct {
	issue string
	key   string // the commands go to the node that serves it
	// The last command of refused fails on a cluster, and on a proxy before a cluster. The commands of
	// mended succeed there, too.
	refused, mended []string
}

// The scripts do on their keys what those of the client do. A number of keys, the keys and the
// arguments follow.
const (
	publish     = `EVAL "return redis.call('publish', KEYS[2], ARGV[1])" `
	lookUp      = `EVAL "local id = redis.call('hget', KEYS[2], ARGV[1]) if id then redis.call('hget', KEYS[1], id) end" `
	renew       = `EVAL "for i = 1, #KEYS do redis.call('pexpire', KEYS[i], ARGV[1]) end return #KEYS" `
	get         = `EVAL "for i = 1, #KEYS do redis.call('get', KEYS[i]) end" `
	releaseLock = `EVAL "redis.call('del', KEYS[1]) return redis.call('publish', KEYS[2], ARGV[1])" `
)

var stories = []story{
	{
		// The read lock's channel puts braces around a name that has some: the tag is "{Test". Redisson
		// 3.5.4 did that. Later releases add no braces to such a name.
		issue:   "redisson#1098",
		key:     "{Test}:mam8CQJFrTYBEXbcsVKVNA:key",
		refused: []string{publish + "2 {Test}:mam8CQJFrTYBEXbcsVKVNA:key redisson_rwlock__{{Test}:mam8CQJFrTYBEXbcsVKVNA:key} 0"},
		mended:  []string{publish + "2 {Test}:mam8CQJFrTYBEXbcsVKVNA:key redisson_rwlock:{Test}:mam8CQJFrTYBEXbcsVKVNA:key 0"},
	},
	{
		// RBuckets.get of Redisson 3.11.0. Later releases send an MGET for each slot.
		issue:   "redisson#2240",
		key:     "RO-61519108549746",
		refused: []string{"MGET RO-61519108549746 RO-61519109582837"},
		mended:  []string{"MGET RO-61519108549746"},
	},
	{
		// A transaction that deletes a map and fills it, as Redisson 4.7.0 sends it. A name with a tag
		// keeps the transaction's lock in the slot of the map.
		issue:   "redisson#4927",
		key:     "orders",
		refused: []string{"MULTI", "DEL orders", "HSET orders 1 a", "HDEL orders:transaction_lock owner", "EXEC"},
		mended:  []string{"MULTI", "DEL {orders}", "HSET {orders} 1 a", "HDEL {orders}:transaction_lock owner", "EXEC"},
	},
	{
		// A live object's index and the object, when the client is not a cluster client. As a cluster client
		// it sends other commands to each of them.
		issue: "redisson#5449",
		key:   "redisson_live_object_index:{Indexed}:name2",
		refused: []string{
			lookUp + "2 redisson_live_object_index:{Indexed}:name2 redisson_live_object:{223122}:Indexed name2",
		},
		mended: []string{"HGET redisson_live_object_index:{Indexed}:name2 1"},
	},
	{
		// One script renews many locks since Redisson 3.44, as this issue asked. A proxy refuses it:
		// redisson#6867.
		issue:   "redisson#6303",
		key:     "order:42",
		refused: []string{renew + "2 order:42 order:43 30000"},
		mended:  []string{renew + "1 order:42 30000"},
	},
	{
		// By this script Redisson 4 sees a cluster behind an address. It then renews locks for each slot, but
		// up to 4.7.0 all keys have slot 0: the script of redisson#6303 again.
		issue:   "redisson#7116",
		key:     "test1",
		refused: []string{get + "2 test1 test2"},
	},
	{
		// Redisson 3.10.6 releases a lock. The proxy did not see that both keys are in one slot.
		issue:  "camellia#80",
		key:    "lock",
		mended: []string{releaseLock + "2 lock redisson_lock__channel:{lock} 0"},
	},
}

func TestKeysOfSeveralSlotsWorkOnASingleServerOnly(t *testing.T) {
	single := start(t, lockredis.New(lockredis.Config{}))
	proxy := start(t, lockredis.New(lockredis.Config{Directives: map[string]string{"topology": "proxy:3"}}))
	var nodes []string
	for _, s := range lockredis.NewCluster(make([]lockredis.Config, size)...) {
		nodes = append(nodes, start(t, s))
	}
	tellStories(t, "single", "", single)
	tellStories(t, "proxy", crossSlot, proxy)
	tellStories(t, "cluster", crossSlot, nodes...)
}

func TestRedisRefusesTheSameKeys(t *testing.T) {
	redistest.SkipUnlessWhole(t)
	var nodes []string
	for _, s := range redistest.StartCluster(t, size) {
		nodes = append(nodes, s.Addr)
	}
	tellStories(t, "single", "", redistest.Start(t).Addr)
	tellStories(t, "cluster", crossSlot, nodes...)
}

func start(t *testing.T, s *lockredis.Server) string {
	t.Helper()
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s.Addr()
}

// tellStories sends the commands of all stories to a deployment. refusal is the reply to the last refused
// command there, "" if it succeeds.
func tellStories(t *testing.T, deployment, refusal string, addrs ...string) {
	for _, s := range stories {
		t.Run(deployment+" "+s.issue, func(t *testing.T) {
			c := connTo(t, s.key, addrs)
			for i, line := range s.refused {
				want := ""
				if i == len(s.refused)-1 {
					want = refusal
				}
				expectError(t, c, line, want)
			}
			for _, line := range s.mended {
				expectError(t, c, line, "")
			}
		})
	}
}

// expectError sends a command, and compares the error that it gets. "" means none.
func expectError(t *testing.T, c *wire.Conn, line, want string) {
	t.Helper()
	v, err := c.Do(split(t, line)...)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	got := ""
	if v.IsError() {
		got = string(v.Str)
	}
	if got != want {
		t.Errorf("%s: error %q, want %q", line, got, want)
	}
}

// connTo returns a connection to the node that serves a key.
func connTo(t *testing.T, key string, addrs []string) *wire.Conn {
	t.Helper()
	for _, addr := range addrs {
		c, err := wire.Dial(addr)
		if err != nil {
			t.Fatal(err)
		}
		c.SetTimeout(limit)
		t.Cleanup(func() { c.Close() })
		v, err := c.Do("EXISTS", key)
		if err != nil {
			t.Fatal(err)
		}
		if !v.IsError() {
			return c
		}
		if !strings.HasPrefix(string(v.Str), "MOVED ") {
			t.Fatalf("EXISTS %s: %s", key, v)
		}
	}
	t.Fatalf("no node serves %s", key)
	return nil
}
