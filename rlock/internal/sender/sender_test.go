package sender

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/lockredis/lockredis/lockredistest"
	"github.com/lockredis/lockredis/rlock/internal/scripts"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errClosed, errNotSynced = errors.New("closed"), errors.New("not synced")

// client is what a Sender needs of its client.
type client struct {
	*Sender
	running     sync.WaitGroup
	doubts      chan struct{}
	close, give context.CancelFunc
}

// with runs f in virtual time with a server and a Sender.
func with(t *testing.T, f func(t *testing.T, srv *lockredistest.Server, c *client)) {
	synctest.Test(t, func(t *testing.T) {
		srv := lockredistest.RunT(t)
		rdb := srv.Client()
		c := &client{doubts: make(chan struct{}, 100)}
		closing, stop := context.WithCancel(context.Background())
		given, give := context.WithCancel(context.Background())
		c.close, c.give = stop, give
		c.Sender = New(rdb, Config{
			RetryFor: time.Second, SyncReplicas: 1, SyncTimeout: time.Second,
			Closing: closing, Given: given, Running: &c.running,
			Doubt:  func() { c.doubts <- struct{}{} },
			Closed: errClosed, NotSynced: errNotSynced,
		})
		f(t, srv, c)
		stop()
		give()
		c.running.Wait()
		time.Sleep(time.Minute) // go-redis ends its dials
	})
}

func read(key string) Call { return NewCall(scripts.ReadKey, []string{key}, "get") }

func TestCallsThatGoTogetherHaveTheirRepliesInOrder(t *testing.T) {
	with(t, func(t *testing.T, srv *lockredistest.Server, c *client) {
		for _, key := range []string{"a", "b"} {
			if _, err := srv.Do("SET", key, "of "+key); err != nil {
				t.Fatal(err)
			}
		}
		if o := c.Send(t.Context(), Request{Call: read("a"), Limit: time.Second}); o.Reply != "of a" {
			t.Error(o)
		}
		n, err := c.NodeOf(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		all, _, answered := c.SendTogether(t.Context(), n, []Call{read("a"), read("none"), read("b")})
		if !answered {
			t.Error("not all are answered")
		}
		for i, want := range []any{"of a", nil, "of b"} {
			if all[i].Reply != want || all[i].Err != nil {
				t.Errorf("outcome %d is %v", i, all[i])
			}
		}
	})
}

func TestTheEndOfTheClientEndsWhatWaits(t *testing.T) {
	with(t, func(t *testing.T, srv *lockredistest.Server, c *client) {
		defer srv.Hang().Clear()
		outcomes := make(chan Outcome)
		settled := make(chan Outcome, 1)
		for _, r := range []Request{
			{Call: read("a"), Limit: time.Hour},
			{Call: read("a"), Limit: time.Hour, Persistent: true, Settled: func(o Outcome) { settled <- o }},
		} {
			c.running.Add(1)
			go func() {
				defer c.running.Done()
				outcomes <- c.Send(context.Background(), r)
			}()
		}
		time.Sleep(10 * time.Millisecond)
		c.close()
		if o := <-outcomes; !errors.Is(o.Err, errClosed) {
			t.Errorf("a request ended with %v", o.Err)
		}
		c.give()
		if o := <-outcomes; !errors.Is(o.Err, errClosed) {
			t.Errorf("a persistent request ended with %v", o.Err)
		}
		if o := <-settled; o.Err == nil {
			t.Errorf("it settled without an error: %v", o)
		}
	})
}

func TestALostReplyIsAStrayAndADoubt(t *testing.T) {
	with(t, func(t *testing.T, srv *lockredistest.Server, c *client) {
		c.Send(t.Context(), Request{Call: read("a"), Limit: time.Second})
		srv.LoseReply(lockredistest.Match{Command: "evalsha"})
		o := c.Send(t.Context(), Request{Call: read("a"), Limit: time.Second})
		if o.Err != nil || o.Strays != 1 || len(c.doubts) == 0 {
			t.Errorf("the outcome is %v, with %d doubts", o, len(c.doubts))
		}
	})
}
