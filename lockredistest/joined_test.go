package lockredistest_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/lockredis/lockredis/internal/leases"
	"github.com/lockredis/lockredis/lockredistest"
)

// member is a lock client that records which leases have ended.
type member struct {
	id    string
	mu    sync.Mutex // guards ended
	ended []string
}

func (m *member) LeaseID() string { return m.id }

func (m *member) LeaseEnded(db int, name, owner string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ended = append(m.ended, fmt.Sprint(db, " ", name, " ", owner))
}

// join joins the server that go-redis options lead to, as rlock does.
func join(srv *lockredistest.Server, m leases.Client) (leave func()) {
	return srv.Client().Options().Limiter.(leases.Server).JoinLeases(m)
}

func TestAdvanceTellsJoinedClientsWhichLeasesEnded(t *testing.T) {
	srv := lockredistest.RunT(t, lockredistest.ManualClock(), lockredistest.AllowLeaks())
	rdb := srv.Client()
	m, left := &member{id: "worker"}, &member{id: "left"}
	defer join(srv, m)()
	leave := join(srv, left)
	leave()
	leave()
	now := srv.Now().UnixMilli()
	run(t, rdb, lock, []string{"plain"}, 3000, alice, "")
	run(t, rdb, lock, []string{"named"}, 2000, "worker:7", "")
	run(t, rdb, lock, []string{"writing"}, 1000, alice+":write", "write")
	run(t, rdb, lock, []string{"endless"}, 0, alice, "")
	run(t, rdb, lock, []string{"renewed"}, 1000, alice, "")
	run(t, rdb, lock, []string{"released"}, 1000, alice, "")
	run(t, rdb, takePermits, permitKeys("p"), now+2500, "permit")
	// Alice has read holds of 1 s and 4 s, Bob one of 2 s. The lock's lease is the longest.
	run(t, rdb, lock, []string{"reading"}, 4000, alice, "read")
	run(t, rdb, lock, []string{"reading"}, 4000, alice, "read")
	run(t, rdb, lock, []string{"reading"}, 4000, bob, "read")
	rdb.Set(t.Context(), "{reading}:"+alice+":rwlock_timeout:1", 1, time.Second)
	rdb.Set(t.Context(), "{reading}:"+alice+":rwlock_timeout:2", 1, 4*time.Second)
	rdb.Set(t.Context(), "{reading}:"+bob+":rwlock_timeout:1", 1, 2*time.Second)
	rdb.PExpire(t.Context(), "renewed", time.Hour)
	rdb.Del(t.Context(), "released")
	for i, want := range [][]string{
		{},
		{"0 writing " + alice},
		{"0 named worker:7", "0 reading " + bob},
		{"0 p permit", "0 plain " + alice},
		{"0 reading " + alice},
	} {
		if i > 0 {
			srv.Advance(time.Second)
		}
		if !slices.Equal(m.ended, want) {
			t.Errorf("after %d s: %q, want %q", i, m.ended, want)
		}
		m.ended = []string{}
		if i == 0 {
			m.ended = nil
		}
	}
	if len(left.ended) > 0 {
		t.Errorf("a client that left was told of %q", left.ended)
	}
}

func TestOwnersOfAJoinedClientAreRecognised(t *testing.T) {
	srv := lockredistest.RunT(t, lockredistest.AllowLeaks())
	m := &member{id: "orders-worker"}
	leave := join(srv, m)
	run(t, srv.Client(), lock, []string{"a"}, 30000, "orders-worker:7", "")
	run(t, srv.Client(), lock, []string{"data"}, 30000, "orders:7", "")
	leave()
	if got := locks(srv); !slices.Equal(got, []string{"lock a"}) {
		t.Errorf("%q", got)
	}
}

func TestTheClientsOfTwoServersAreToldOfTheirOwnLeases(t *testing.T) {
	one := lockredistest.RunT(t, lockredistest.ManualClock(), lockredistest.AllowLeaks())
	two := lockredistest.RunT(t, lockredistest.ManualClock(), lockredistest.AllowLeaks())
	m := &member{id: "one"}
	defer join(one, m)()
	for _, srv := range []*lockredistest.Server{one, two} {
		run(t, srv.Client(), lock, []string{"a"}, 1000, alice, "")
	}
	two.Advance(time.Minute)
	if len(m.ended) != 0 {
		t.Errorf("%q", m.ended)
	}
	one.SetTime(one.Now().Add(time.Minute))
	if !slices.Equal(m.ended, []string{"0 a " + alice}) {
		t.Errorf("%q", m.ended)
	}
}
