package lockredistest_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/lockredistest"
)

// Each bubble has a server and a busy client. No timer, channel or goroutine may pass from
// one bubble to the next.
func TestManyBubblesInOneProcess(t *testing.T) {
	for i := range 20 {
		synctestRun(t, fmt.Sprint("bubble ", i), func(t *testing.T) {
			srv := lockredistest.RunT(t, lockredistest.Directive("notify-keyspace-events", "Ex"))
			rdb := srv.Client()
			start := time.Now()
			var all sync.WaitGroup
			all.Go(func() { expires(t, srv) })
			for n := range 100 {
				all.Go(func() { timesOut(t, rdb, fmt.Sprint("q", n)) })
				all.Go(func() { counts(t, rdb) })
			}
			all.Go(func() { hears(t, rdb) })
			all.Wait()
			if d := time.Since(start); d > 3*time.Minute {
				t.Errorf("all of it took %v", d)
			}
			if n, _ := srv.Get("n"); n != "1000" {
				t.Errorf("n is %s", n)
			}
		})
	}
}

// expires checks that a key lives until its deadline and not longer.
func expires(t *testing.T, srv *lockredistest.Server) {
	srv.Set("k", "v")
	srv.SetTTL("k", time.Minute)
	time.Sleep(time.Minute - time.Millisecond)
	if ttl := srv.TTL("k"); ttl <= 0 || ttl > time.Millisecond {
		t.Errorf("TTL is %v", ttl)
	}
	time.Sleep(2 * time.Millisecond)
	if srv.Exists("k") {
		t.Error("k outlived its lease")
	}
}

// timesOut waits for a list that stays empty, longer than go-redis's own timeout.
func timesOut(t *testing.T, rdb *redis.Client, key string) {
	start := time.Now()
	err := rdb.BLPop(t.Context(), 30*time.Second, key).Err()
	const wait = 30 * time.Second
	d := time.Since(start)
	if !errors.Is(err, redis.Nil) || d < wait || d > wait+2*time.Millisecond {
		t.Errorf("BLPOP ended after %v with %v", d, err)
	}
}

func counts(t *testing.T, rdb *redis.Client) {
	pipe := rdb.Pipeline()
	for range 10 {
		pipe.Incr(t.Context(), "n")
	}
	if _, err := pipe.Exec(t.Context()); err != nil {
		t.Error(err)
	}
}

// hears receives an expired event and a message through a Go channel, which go-redis fills
// from its own goroutines.
func hears(t *testing.T, rdb *redis.Client) {
	sub := rdb.Subscribe(t.Context(), "__keyevent@0__:expired", "news")
	defer sub.Close()
	messages := sub.Channel()
	synctest.Wait()
	rdb.Set(t.Context(), "short", "v", 100*time.Second)
	if m := <-messages; m.Payload != "k" {
		t.Errorf("received %v", m)
	}
	if m := <-messages; m.Payload != "short" {
		t.Errorf("received %v", m)
	}
	rdb.Publish(t.Context(), "news", "hello")
	if m := <-messages; m.Payload != "hello" {
		t.Errorf("received %v", m)
	}
}

func TestAWatchdogRenewsInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := lockredistest.RunT(t)
		rdb := srv.Client()
		run(t, rdb, lock, []string{"a"}, 30000, alice, "")
		stop, stopped := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(stopped)
			for tick := time.NewTicker(10 * time.Second); ; {
				select {
				case <-tick.C:
					rdb.PExpire(t.Context(), "a", 30*time.Second)
				case <-stop:
					return
				}
			}
		}()
		time.Sleep(24 * time.Hour)
		if locks := srv.Locks(); len(locks) != 1 || locks[0].TTL < 20*time.Second {
			t.Fatalf("%+v", locks)
		}
		close(stop)
		<-stopped
		time.Sleep(30 * time.Second)
		if locks := srv.Locks(); len(locks) != 0 {
			t.Fatalf("%+v", locks)
		}
	})
}

func TestAManualClockStandsStillInABubbleToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := lockredistest.RunT(t, lockredistest.ManualClock())
		srv.Set("k", "v")
		srv.SetTTL("k", time.Second)
		time.Sleep(time.Hour)
		if !srv.Exists("k") {
			t.Fatal("the bubble's time moved the server's clock")
		}
		srv.Advance(time.Second)
		if srv.Exists("k") {
			t.Fatal("k outlived its lease")
		}
	})
}
