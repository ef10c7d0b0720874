package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockredis/lockredis/lockredistest"
	"github.com/lockredis/lockredis/rlock"
)

// process returns the Orders of one process: it has its own rlock client.
func process(
	t *testing.T, srv *lockredistest.Server, courier func(context.Context, string) error,
) *Orders {
	rdb := srv.Client()
	locks := rlock.New(rdb, rlock.Options{})
	t.Cleanup(func() { locks.Close() })
	return &Orders{rdb: rdb, locks: locks, courier: courier}
}

func TestAnOrderIsShippedOnceByAnyNumberOfProcesses(t *testing.T) {
	srv := lockredistest.RunT(t) // fails the test if a lock is left behind
	var shipped atomic.Int32
	courier := func(context.Context, string) error { shipped.Add(1); return nil }
	var wg sync.WaitGroup
	for range 5 {
		o := process(t, srv, courier)
		for range 4 {
			wg.Go(func() {
				if err := o.Ship(t.Context(), "42"); err != nil && !errors.Is(err, ErrShipped) {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	if n := shipped.Load(); n != 1 {
		t.Fatalf("shipped %d times", n)
	}
	if status, _ := srv.Get("order:42"); status != "shipped" {
		t.Fatalf("status is %q", status)
	}
}

func TestASlowCourierKeepsTheLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // an hour passes at once
		srv := lockredistest.RunT(t)
		o := process(t, srv, func(context.Context, string) error {
			time.Sleep(time.Hour)
			return nil
		})
		first := make(chan error)
		go func() { first <- o.Ship(t.Context(), "42") }()
		time.Sleep(30 * time.Minute)
		locks := srv.Locks()
		if len(locks) != 1 || locks[0].Name != "orders:42" {
			t.Fatalf("after half an hour the locks are %v", locks)
		}
		if err := process(t, srv, nil).Ship(t.Context(), "42"); !errors.Is(err, ErrShipped) {
			t.Fatal(err)
		}
		if err := <-first; err != nil {
			t.Fatal(err)
		}
	})
}

func TestTheCourierIsCancelledWhenTheLockIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := lockredistest.RunT(t)
		o := process(t, srv, func(ctx context.Context, _ string) error {
			srv.Del("orders:42") // an operator deletes the lock
			<-ctx.Done()
			return context.Cause(ctx)
		})
		if err := o.Ship(t.Context(), "42"); !errors.Is(err, rlock.ErrLockLost) {
			t.Fatal(err)
		}
		if srv.Exists("order:42") {
			t.Fatal("marked as shipped")
		}
	})
}

func TestAnOrderCanBeShippedAfterAProcessDied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := lockredistest.RunT(t)
		dead := process(t, srv, nil)
		if err := dead.locks.Lock("orders:42").Lock(t.Context()); err != nil {
			t.Fatal(err)
		}
		dead.locks.Close() // from here on nothing renews or releases its lock
		start := time.Now()
		alive := process(t, srv, func(context.Context, string) error { return nil })
		if err := alive.Ship(t.Context(), "42"); err != nil {
			t.Fatal(err)
		}
		if waited := time.Since(start); waited > 31*time.Second {
			t.Fatalf("waited %v", waited)
		}
	})
}

func TestTheServiceAnswersOverHTTP(t *testing.T) {
	courier := func(context.Context, string) error { return nil }
	h := handler(process(t, lockredistest.RunT(t), courier))
	for _, want := range []int{204, 409} {
		r := httptest.NewRequest("POST", "/orders/42/ship", nil)
		r.SetPathValue("id", "42")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("status %d, want %d", w.Code, want)
		}
	}
}

func TestAnOrderInProgressIsCancelledAtShutdown(t *testing.T) {
	server := lockredistest.RunT(t)
	begun := make(chan bool)
	o := process(t, server, func(ctx context.Context, _ string) error {
		close(begun)
		<-ctx.Done()
		return ctx.Err()
	})
	work, cancelWork := context.WithCancel(t.Context())
	ts := httptest.NewUnstartedServer(handler(o))
	ts.Config.BaseContext = func(net.Listener) context.Context { return work }
	ts.Start()
	defer ts.Close()
	go func() {
		if r, err := http.Post(ts.URL, "", nil); err == nil {
			r.Body.Close()
		}
	}()
	<-begun
	if err := end(ts.Config, o, 0, cancelWork); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	if locks := server.Locks(); len(locks) > 0 {
		t.Fatalf("the locks are %v", locks)
	}
}
