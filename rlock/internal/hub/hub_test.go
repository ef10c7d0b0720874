package hub_test

import (
	"context"
	"math/rand/v2"
	"net"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/internal/redistest"
	"github.com/lockredis/lockredis/lockredistest"
	"github.com/lockredis/lockredis/rlock/internal/hub"
)

// accepted returns how many connections the server has accepted.
func accepted(t testing.TB, rdb *redis.Client) int {
	t.Helper()
	info, err := rdb.Info(context.Background(), "stats").Result()
	must(t, err)
	m := regexp.MustCompile(`total_connections_received:(\d+)`).FindStringSubmatch(info)
	if m == nil {
		t.Fatalf("INFO has no total_connections_received:\n%s", info)
	}
	n, _ := strconv.Atoi(m[1])
	return n
}

// Each wait subscribes and unsubscribes, so the confirmations of earlier waits
// arrive during later ones.
func TestShortWaitsShareOneConnection(t *testing.T) {
	rdb := connect(t)
	before := accepted(t, rdb)
	h, reconnects := newHub(t, connectTo(t, rdb), false)
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for range 500 {
				w := h.Join("c"+strconv.Itoa(rand.IntN(8)), false)
				wait := time.NewTimer(rand.N(300 * time.Microsecond))
				select {
				case <-w.Wake():
				case <-wait.C:
				}
				w.Leave()
			}
		})
	}
	wg.Wait()
	if n := accepted(t, rdb) - before; n != 1 {
		t.Errorf("8000 waits made %d connections", n)
	}
	if n := reconnects.Load(); n != 0 {
		t.Errorf("%d reconnects", n)
	}
}

// connectTo returns another client of the same server.
func connectTo(t testing.TB, rdb *redis.Client) *redis.Client {
	other := redis.NewClient(&redis.Options{Addr: rdb.Options().Addr})
	t.Cleanup(func() { other.Close() })
	return other
}

func TestAMessageAfterReadyIsNotMissed(t *testing.T) {
	rdb := connect(t)
	h, _ := newHub(t, rdb, false)
	for i := range 1000 {
		for range i % 4 { // subscribe, and unsubscribe at an unpredictable time
			join(t, h, "c", true).Leave()
		}
		w := join(t, h, "c", true)
		within(t, "ready", w.Ready())
		must(t, rdb.Publish(t.Context(), "c", "0").Err())
		within(t, "wake-up", w.Wake())
		w.Leave()
	}
}

func TestAMessageWakesTheFirstWaiterOrAll(t *testing.T) {
	rdb := connect(t)
	h, _ := newHub(t, rdb, false)
	first, second, third := join(t, h, "one", false), join(t, h, "one", false), join(t, h, "one", false)
	all := []*hub.Waiter{join(t, h, "all", true), join(t, h, "all", true)}
	within(t, "ready", first.Ready())
	within(t, "ready", all[0].Ready())

	must(t, rdb.Publish(t.Context(), "one", "0").Err())
	within(t, "the first wake-up", first.Wake())
	if woken(second)() || woken(third)() {
		t.Fatal("a message woke more than the first waiter")
	}
	first.WakeNext()
	within(t, "the wake-up by the first waiter", second.Wake())

	must(t, rdb.Publish(t.Context(), "one", "0").Err())
	eventually(t, "the first waiter is woken", woken(first))
	first.Leave()
	if !woken(second)() || woken(third)() {
		t.Fatal("the unused wake-up did not go to the next waiter")
	}

	must(t, rdb.Publish(t.Context(), "all", "0").Err())
	for _, w := range all {
		within(t, "a wake-up of all", w.Wake())
	}
}

func TestAClosedHubRefusesWaiters(t *testing.T) {
	h, _ := newHub(t, connect(t), false)
	w := join(t, h, "c", false)
	h.Close(context.Background())
	h.Close(context.Background())
	if h.Join("c", false) != nil {
		t.Error("a closed hub has a waiter")
	}
	h.Watch("k")
	h.Unwatch("k")
	w.Leave()
}

func TestABrokenConnectionIsAnnouncedOnceWhenItIsBack(t *testing.T) {
	t.Parallel()
	for what, breaks := range map[string]func(*testing.T, *lockredistest.Server){
		"ended": func(_ *testing.T, srv *lockredistest.Server) { srv.Cut(lockredistest.Connections{}) },
		"ended and refused": func(t *testing.T, srv *lockredistest.Server) {
			refused := srv.LoseRequest(lockredistest.Match{Times: lockredistest.Always})
			srv.Cut(lockredistest.Connections{})
			must(t, refused.Wait(t.Context(), 3))
			refused.Clear()
		},
	} {
		t.Run(what, func(t *testing.T) {
			srv := lockredistest.RunT(t)
			h, reconnects := newHub(t, srv.Client(), false)
			h.Watch("k") // no channel: only the connection
			eventually(t, "a connection", func() bool { return srv.CurrentConnectionCount() == 1 })
			breaks(t, srv)
			eventually(t, "a reconnect", func() bool { return reconnects.Load() == 1 })
			w := join(t, h, "c", false)
			within(t, "ready", w.Ready())
			w.Leave()
			if n := reconnects.Load(); n != 1 {
				t.Errorf("announced %d times", n)
			}
		})
	}
}

func TestAMessageLostByABrokenConnectionWakesAllWaiters(t *testing.T) {
	srv := lockredistest.RunT(t)
	h, _ := newHub(t, srv.Client(), false)
	first, second := join(t, h, "c", false), join(t, h, "c", false)
	within(t, "ready", first.Ready())
	srv.Cut(lockredistest.Connections{})
	within(t, "the first waiter", first.Wake())
	within(t, "the second waiter", second.Wake())
}

func TestAWatchedKeyKeepsTheConnectionOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := lockredistest.RunT(t)
		h := hub.New(srv.Client(), nodes{srv.Client(), false}, func() { t.Error("a reconnect") })
		defer h.Close(context.Background())
		h.Watch("a")
		h.Watch("a")
		h.Watch("b")
		time.Sleep(time.Hour)
		h.Unwatch("a")
		h.Unwatch("b")
		time.Sleep(time.Hour)
		if all, open := srv.TotalConnectionCount(), srv.CurrentConnectionCount(); all != 1 || open != 1 {
			t.Errorf("%d connections, %d open; want 1 that is open", all, open)
		}
		h.Unwatch("a")
		time.Sleep(3 * time.Second)
		if all, open := srv.TotalConnectionCount(), srv.CurrentConnectionCount(); all != 1 || open != 0 {
			t.Errorf("after the last unwatch: %d connections, %d open", all, open)
		}
	})
}

func TestAWatchedConnectionThatHangsIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := lockredistest.RunT(t)
		back := make(chan time.Time, 10)
		h := hub.New(srv.Client(), nodes{srv.Client(), false}, func() { back <- time.Now() })
		defer h.Close(context.Background())
		h.Watch("k")
		synctest.Wait()
		start := time.Now()
		srv.Silence(lockredistest.Connections{})
		if took := (<-back).Sub(start); took > 10*time.Second {
			t.Errorf("announced after %v", took)
		}
		time.Sleep(time.Minute)
		if n := len(back); n != 0 {
			t.Errorf("announced %d times too often", n)
		}
		if all, open := srv.TotalConnectionCount(), srv.CurrentConnectionCount(); all != 2 || open != 1 {
			t.Errorf("%d connections, %d open", all, open)
		}
	})
}

func TestCloseDoesNotWaitForAServerThatHangs(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	for what, dial := range map[string]func(context.Context, string, string) (net.Conn, error){
		"black hole": func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		},
		"a handshake that cannot be interrupted": func(context.Context, string, string) (net.Conn, error) {
			<-release
			return nil, net.ErrClosed
		},
		"no first reply": func(context.Context, string, string) (net.Conn, error) {
			client, server := net.Pipe()
			go func() {
				_, _ = server.Read(make([]byte, 1000))
				<-release
				server.Close()
			}()
			return client, nil
		},
	} {
		t.Run(what, func(t *testing.T) {
			dialed := make(chan struct{}, 1)
			rdb := redis.NewClient(&redis.Options{ReadTimeout: -1, Dialer: func(
				ctx context.Context, network, addr string) (net.Conn, error) {
				select {
				case dialed <- struct{}{}:
				default:
				}
				return dial(ctx, network, addr)
			}})
			defer rdb.Close()
			h := hub.New(rdb, nodes{rdb, false}, nil)
			join(t, h, "c", false)
			h.Watch("k")
			within(t, "dial", dialed)
			start := time.Now()
			h.Close(context.Background())
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("Close took %v", took)
			}
		})
	}
	close(release)
}

func TestAChannelThatIsRefusedDoesNotDisturbTheOthers(t *testing.T) {
	rdb := redis.NewClient(&redis.Options{Addr: redistest.Start(t).Addr})
	t.Cleanup(func() { rdb.Close() })
	must(t, rdb.Do(t.Context(), "ACL", "SETUSER", "u", "on", "nopass", "~*", "+@all",
		"resetchannels", "&good*").Err())
	user := redis.NewClient(&redis.Options{Addr: rdb.Options().Addr, Username: "u", Password: "x"})
	t.Cleanup(func() { user.Close() })
	before := accepted(t, rdb)
	h, _ := newHub(t, user, true) // sharded: one command for each channel
	bad, good := join(t, h, "bad", false), join(t, h, "good", false)
	within(t, "ready", good.Ready())
	must(t, rdb.Do(t.Context(), "ACL", "SETUSER", "u", "&bad*").Err())
	within(t, "the subscription that was refused", bad.Ready())
	if n := accepted(t, rdb) - before; n != 1 {
		t.Errorf("%d connections", n)
	}
}
