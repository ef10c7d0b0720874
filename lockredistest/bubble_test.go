package lockredistest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/lockredistest"
)

// panics fails t unless f panics with a text that has part in it.
func panics(t *testing.T, part string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if text := fmt.Sprint(recover()); !strings.Contains(text, part) {
			t.Errorf("panic %q, want %q", text, part)
		}
	}()
	f()
}

// waysIn reach into a server.
var waysIn = map[string]func(*lockredistest.Server){
	"Addr":           func(s *lockredistest.Server) { s.Addr() },
	"Advance":        func(s *lockredistest.Server) { s.Advance(time.Second) },
	"Client":         func(s *lockredistest.Server) { s.Client() },
	"ClusterOptions": func(s *lockredistest.Server) { s.ClusterOptions() },
	"CommandCount":   func(s *lockredistest.Server) { s.CommandCount() },
	"Cut":            func(s *lockredistest.Server) { s.Cut(lockredistest.Connections{}) },
	"Do":             func(s *lockredistest.Server) { s.Do("PING") },
	"Hang":           func(s *lockredistest.Server) { s.Hang() },
	"Locks":          func(s *lockredistest.Server) { s.Locks() },
	"NewSubscriber":  func(s *lockredistest.Server) { s.NewSubscriber() },
	"Restart":        func(s *lockredistest.Server) { s.Restart() },
	"Set":            func(s *lockredistest.Server) { s.Set("k", "v") },
	"Stop":           func(s *lockredistest.Server) { s.Stop() },
}

func TestAServerIsNotUsedAcrossABubblesBorder(t *testing.T) {
	outer := lockredistest.RunT(t, lockredistest.ManualClock())
	var inner *lockredistest.Server
	synctest.Test(t, func(t *testing.T) {
		for name, use := range waysIn {
			t.Log(name)
			panics(t, "started outside of this synctest bubble", func() { use(outer) })
		}
		if nc, err := outer.Dial(t.Context(), "", ""); err == nil {
			nc.Close()
			t.Error("dialled across the border")
		}
		inner = lockredistest.RunT(t, lockredistest.ManualClock())
	})
	for name, use := range waysIn {
		t.Log(name)
		panics(t, "started in a synctest bubble", func() { use(inner) })
	}
}

func TestAClientFromOutsideABubbleFailsInItWithAnError(t *testing.T) {
	srv := lockredistest.RunT(t)
	for name, prepare := range map[string]func(*redis.Client) error{
		"without a connection":    func(*redis.Client) error { return nil },
		"with an idle connection": func(c *redis.Client) error { return c.Ping(t.Context()).Err() },
	} {
		rdb := srv.Client()
		if err := prepare(rdb); err != nil {
			t.Fatal(err)
		}
		synctest.Test(t, func(t *testing.T) {
			err := rdb.Ping(context.Background()).Err()
			if err == nil || !strings.Contains(err.Error(), "synctest bubble") {
				t.Error(name, ": ", err)
			}
		})
	}
}

func TestAReadInABubbleDoesNotWaitForAConnectionFromOutside(t *testing.T) {
	srv := lockredistest.RunT(t)
	nc, err := srv.Dial(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	synctest.Test(t, func(t *testing.T) {
		if _, err := nc.Read(make([]byte, 1)); err == nil || !strings.Contains(err.Error(), "bubble") {
			t.Error(err)
		}
	})
}

func TestABubblesServerHasNoSocket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := lockredistest.RunT(t)
		for _, f := range []func(){
			func() { srv.Addr() }, func() { srv.Host() }, func() { srv.Port() },
		} {
			panics(t, "Addr in a synctest bubble", f)
		}
		for name, option := range map[string]lockredistest.Option{
			"Listen": lockredistest.Listen("127.0.0.1:0"), "TLS": lockredistest.TLS(),
		} {
			if _, err := lockredistest.Run(option); err == nil || !strings.Contains(err.Error(), "bubble") {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}
