package lockredistest_test

import (
	"context"
	"runtime"
	"strings"
	"testing"

	"github.com/lockredis/lockredis/lockredistest"
)

// The fault does not hit, and the server continues.
func TestAnIfWithoutAResultFailsTheTestAndNotTheServer(t *testing.T) {
	for name, row := range map[string]struct {
		f    func(*lockredistest.Server)
		want string
	}{
		"a panic": {func(*lockredistest.Server) { panic("no such argument") }, "no such argument"},
		"t.Fatal": {func(*lockredistest.Server) { runtime.Goexit() }, "has ended its goroutine"},
		"a call":  {func(s *lockredistest.Server) { _, _ = s.Get("k") }, "must not call the server"},
		"Close":   {func(s *lockredistest.Server) { _ = s.Close() }, "must not call the server"},
	} {
		synctestRun(t, "request/"+name, func(t *testing.T) { // a call waits for the patience of the server
			r := &recorder{TB: t}
			srv := lockredistest.RunT(r, nil)
			rdb := srv.Client()
			srv.FailRequest(lockredistest.Match{Command: "set", If: func(lockredistest.Request) bool {
				row.f(srv)
				return false
			}}, "ERR hit")
			if err := rdb.Set(context.Background(), "k", "v", 0).Err(); err != nil && name != "Close" {
				t.Error(err)
			}
			if text := r.end(); !strings.Contains(text, row.want) {
				t.Errorf("the test ends with %q", text)
			}
		})
		synctestRun(t, "message/"+name, func(t *testing.T) {
			r := &recorder{TB: t}
			srv := lockredistest.RunT(r, nil)
			rdb, ctx := srv.Client(), context.Background()
			sub := rdb.Subscribe(ctx, "c")
			defer sub.Close()
			if _, err := sub.Receive(ctx); err != nil {
				t.Fatal(err)
			}
			srv.DropMessage(lockredistest.MessageMatch{If: func(string, string) bool {
				row.f(srv)
				return false
			}})
			err := rdb.Publish(ctx, "c", "m").Err()
			if name == "Close" { // by now it has begun, or even ended
				if text := r.end(); !strings.Contains(text, row.want) {
					t.Errorf("the test ends with %q", text)
				}
				return
			}
			if err != nil {
				t.Error(err)
			}
			if m, err := sub.ReceiveMessage(ctx); err != nil || m.Payload != "m" {
				t.Error(m, err)
			}
			sub.Close()
			if text := r.end(); !strings.Contains(text, row.want) {
				t.Errorf("the test ends with %q", text)
			}
		})
	}
}

func TestOnlyTheFirstErrorsOfAnIfAreTold(t *testing.T) {
	r := &recorder{TB: t}
	srv := lockredistest.RunT(r)
	rdb := srv.Client()
	srv.FailRequest(lockredistest.Match{Command: "set", Times: lockredistest.Always,
		If: func(lockredistest.Request) bool { panic("no such argument") }}, "ERR hit")
	for range 100 {
		if err := rdb.Set(context.Background(), "k", "v", 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	text := r.end()
	if n := strings.Count(text, "no such argument"); n == 0 || n > 10 || !strings.Contains(text, "97 more such errors") {
		t.Errorf("%d of 100 errors are told: %.3000s", n, text)
	}
}

func TestMisuseOfAServerIsSaid(t *testing.T) {
	for want, f := range map[string]func(){
		"RunT needs a test":               func() { lockredistest.RunT(nil) },
		"a Server comes from Run or RunT": func() { _ = new(lockredistest.Server).Close() },
	} {
		func() {
			defer func() {
				if text, _ := recover().(string); !strings.Contains(text, want) {
					t.Errorf("the panic is %q", text)
				}
			}()
			f()
		}()
	}
}
