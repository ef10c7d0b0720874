package lockredistest_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis/lockredistest"
)

// locks returns the kinds and names of Locks.
func locks(srv *lockredistest.Server) []string {
	var names []string
	for _, l := range srv.Locks() {
		names = append(names, string(l.Kind)+" "+l.Name)
	}
	return names
}

func TestLocksReturnsHoldersCountLeaseAndClient(t *testing.T) {
	srv := lockredistest.RunT(t, lockredistest.ManualClock(), lockredistest.AllowLeaks())
	rdb := srv.Client()
	rdb.Do(t.Context(), "CLIENT", "SETNAME", "orders")
	run(t, rdb, lock, []string{"a"}, 30000, alice, "")
	run(t, rdb, lock, []string{"a"}, 30000, alice, "")
	want := []lockredistest.Lock{{
		Name: "a", Kind: lockredistest.Plain, TTL: 30 * time.Second, Client: "pipe:1 (orders)",
		Holders: []lockredistest.Holder{{Owner: alice, Count: 2}},
	}}
	if got := srv.Locks(); !reflect.DeepEqual(got, want) {
		t.Fatalf("%+v\nwant %+v", got, want)
	}
}

func TestLocksTellsKindsApart(t *testing.T) {
	srv := lockredistest.RunT(t, lockredistest.AllowLeaks())
	rdb := srv.Client()
	run(t, rdb, lock, []string{"plain"}, 0, alice, "")
	run(t, rdb, lock, []string{"fair", "redisson_lock_queue:{fair}"}, 1000, alice, "")
	run(t, rdb, lock, []string{"fenced", "redisson_lock_token:{fenced}"}, 1000, alice, "")
	run(t, rdb, lock, []string{"reading"}, 1000, alice, "read")
	run(t, rdb, lock, []string{"writing"}, 1000, alice+":write", "write")
	run(t, rdb, enqueue, []string{"orphan"}, bob, 1e15)
	want := []string{
		"fair fair", "fenced fenced", "fair orphan", "lock plain", "read reading", "write writing",
	}
	if got := locks(srv); !reflect.DeepEqual(got, want) {
		t.Fatalf("%q, want %q", got, want)
	}
	all := srv.Locks()
	if q := all[2].Queue; len(q) != 1 || q[0] != bob || all[2].Client != "" {
		t.Fatalf("%+v", all[2])
	}
	if h := all[5].Holders; len(h) != 1 || h[0].Owner != alice || h[0].Mode != lockredistest.Write {
		t.Fatalf("%+v", all[5])
	}
}

func TestLocksFindsNamesWithBracesAndOtherDatabases(t *testing.T) {
	srv := lockredistest.RunT(t, lockredistest.AllowLeaks())
	rdb := srv.Client()
	run(t, rdb, lock, []string{"{orders}:1", "redisson_lock_queue:{orders}:1"}, 0, alice, "")
	pipe := rdb.TxPipeline()
	pipe.Select(t.Context(), 2)
	lock.Eval(t.Context(), pipe, []string{"b"}, 0, bob, "")
	pipe.Exec(t.Context())
	got := srv.Locks()
	if len(got) != 2 || got[0].Kind != lockredistest.Fair || got[1].DB != 2 || got[1].Name != "b" {
		t.Fatalf("%+v", got)
	}
}

func TestOnlyAHashOfOwnersThatAScriptWroteIsALock(t *testing.T) {
	srv := lockredistest.RunT(t)
	rdb := srv.Client()
	srv.HSet("by hand", alice, "1")
	rdb.HSet(t.Context(), "by a client", alice, "1")
	run(t, rdb, lock, []string{"a counter"}, 0, "orders", "")
	run(t, rdb, lock, []string{"mixed"}, 0, alice, "")
	run(t, rdb, lock, []string{"mixed"}, 0, "total", "")
	run(t, rdb, lock, []string{"unknown mode"}, 0, alice, "sideways")
	for _, owner := range []string{
		alice[:36], alice[:36] + ":", alice[:36] + ":x", alice[1:], "x" + alice[1:],
		alice + ":other", alice + ":write:write",
		"6f1c1a2e-54b7-4f7c-9d4a_0c2f6a8e3b11:17",
	} {
		run(t, rdb, lock, []string{"not " + owner}, 0, owner, "")
	}
	run(t, rdb, lock, []string{"released"}, 0, alice, "")
	srv.Del("released")
	srv.HSet("released", alice, "1") // data of the test
	if got := locks(srv); got != nil {
		t.Fatalf("%q", got)
	}
}

func TestTheLockOfATransactionIsALock(t *testing.T) {
	srv := lockredistest.RunT(t, lockredistest.AllowLeaks())
	run(t, srv.Client(), lock, []string{"a"}, 0, alice+":"+bob[:36], "")
	run(t, srv.Client(), lock, []string{"b"}, 0, alice+":"+strings.ReplaceAll(bob[:36], "-", ""), "")
	if got := locks(srv); len(got) != 2 {
		t.Fatalf("%q", got)
	}
}

func TestPermitsReturnsIDsAndLeases(t *testing.T) {
	srv := lockredistest.RunT(t, lockredistest.ManualClock(), lockredistest.AllowLeaks())
	rdb := srv.Client()
	now := srv.Now().UnixMilli()
	run(t, rdb, takePermits, permitKeys("p"), now+5000, "b", "a")
	run(t, rdb, takePermits, permitKeys("p"), "922337203685477", "c")
	run(t, rdb, takePermits, permitKeys("o"), now+1, "d")
	srv.Advance(2 * time.Second)
	want := []lockredistest.Permit{
		{Name: "p", ID: "a", TTL: 3 * time.Second, Client: "pipe:1"},
		{Name: "p", ID: "b", TTL: 3 * time.Second, Client: "pipe:1"},
		{Name: "p", ID: "c", Client: "pipe:1"},
	}
	if got := srv.Permits(); !reflect.DeepEqual(got, want) {
		t.Fatalf("%+v\nwant %+v", got, want)
	}
}

func TestLocksFindsLocksThatSETCreated(t *testing.T) {
	srv := lockredistest.RunT(t, lockredistest.ManualClock(), lockredistest.AllowLeaks())
	rdb := srv.Client()
	const token = "q83vEjRWeJCrze8SNFZ4kA=="
	pipe := rdb.TxPipeline()
	pipe.Do(t.Context(), "SET", "m", token, "PX", "5000", "nx")
	pipe.Exec(t.Context())
	rdb.SetNX(t.Context(), "m", "other", time.Hour) // another one waits
	srv.SwapDB(0, 1)
	want := []lockredistest.Lock{{
		DB: 1, Name: "m", Kind: lockredistest.Set, TTL: 5 * time.Second, Client: "pipe:1",
		Holders: []lockredistest.Holder{{Owner: token, Count: 1}},
	}}
	if got := srv.Locks(); !reflect.DeepEqual(got, want) {
		t.Fatalf("%+v\nwant %+v", got, want)
	}
	srv.Advance(5 * time.Second)
	if got := srv.Locks(); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}
