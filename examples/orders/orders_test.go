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
	return &Orders{rdb: srv.Client(), locks: client(t, srv, rlock.Options{}), courier: courier}
}

// client returns an rlock client that is closed when the test ends.
func client(t *testing.T, srv *lockredistest.Server, o rlock.Options) *rlock.Client {
	c := rlock.New(srv.Client(), o)
	t.Cleanup(func() { must(t, c.Close(context.Background())) })
	return c
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func nothing(context.Context, string) error { return nil }

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
		second := process(t, srv, nil)
		if err := second.Ship(t.Context(), "42"); !errors.Is(err, rlock.ErrTimeout) {
			t.Fatal(err)
		}
		must(t, <-first)
		if err := second.Ship(t.Context(), "42"); !errors.Is(err, ErrShipped) {
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
		dead := client(t, srv, rlock.Options{})
		if _, err := dead.Lock(lockName("42")).Acquire(t.Context()); err != nil {
			t.Fatal(err)
		}
		must(t, dead.Close(t.Context())) // it no longer renews or releases its lock
		start := time.Now()
		alive := process(t, srv, nothing)
		err := rlock.ErrTimeout
		for errors.Is(err, rlock.ErrTimeout) {
			err = alive.Ship(t.Context(), "42")
		}
		must(t, err)
		if waited := time.Since(start); waited > 31*time.Second {
			t.Fatalf("waited %v", waited)
		}
	})
}

// noLock is a rlock.Doer without a server.
type noLock struct{ err error }

func (n noLock) Do(
	ctx context.Context, _ string, f func(context.Context) error, _ ...rlock.Option,
) error {
	if n.err != nil {
		return n.err
	}
	return f(ctx)
}

func TestAnOrderInUseIsReportedAsLocked(t *testing.T) {
	o := &Orders{locks: noLock{rlock.ErrTimeout}}
	if w := post(o, nil, "/orders/42/ship"); w.Code != http.StatusLocked {
		t.Errorf("status %d", w.Code)
	}
}

func TestTheCouriersErrorIsReported(t *testing.T) {
	courier := func(context.Context, string) error { return errors.New("no van") }
	o := &Orders{rdb: lockredistest.RunT(t).Client(), locks: noLock{}, courier: courier}
	w := post(o, nil, "/orders/42/ship")
	if w.Code != http.StatusServiceUnavailable || w.Body.String() != "order 42: no van\n" {
		t.Errorf("status %d, %q", w.Code, w.Body)
	}
}

func post(o *Orders, p *Packing, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	routes(o, p).ServeHTTP(w, httptest.NewRequest("POST", path, nil))
	return w
}

func TestTheServiceAnswersOverHTTP(t *testing.T) {
	srv := lockredistest.RunT(t)
	o, p := process(t, srv, nothing), &Packing{locks: client(t, srv, rlock.Options{})}
	for _, call := range []struct {
		name string
		want int
	}{{"scan", 409}, {"open", 204}, {"open", 423}, {"scan", 204}, {"done", 204},
		{"done", 409}, {"ship", 204}, {"ship", 409}} {
		if w := post(o, p, "/orders/42/"+call.name); w.Code != call.want {
			t.Errorf("%s: status %d, want %d", call.name, w.Code, call.want)
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
	ts := httptest.NewUnstartedServer(call(o.Ship))
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
