package lockredistest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/lockredistest"
)

// A client that gets no reply cannot tell whether its command ran. go-redis sends it again.
func ExampleServer_LoseReply() {
	srv, err := lockredistest.Run()
	if err != nil {
		panic(err)
	}
	defer srv.Close()
	ctx := context.Background()
	rdb := srv.Client()

	f := srv.LoseReply(lockredistest.Match{Command: "incr", Nth: 2})
	for range 3 {
		fmt.Println(rdb.Incr(ctx, "orders").Val())
	}
	fmt.Println("replies lost:", f.Hits())
	// Output:
	// 1
	// 3
	// 4
	// replies lost: 1
}

// A network can deliver a request long after its client gave up.
func ExampleServer_HoldRequest() {
	srv, err := lockredistest.Run()
	if err != nil {
		panic(err)
	}
	defer srv.Close()
	o := srv.Options()
	o.MaxRetries, o.ContextTimeoutEnabled = -1, true
	rdb := redis.NewClient(o)
	defer rdb.Close()

	f := srv.HoldRequest(lockredistest.Match{Command: "set"}, 0)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	fmt.Println("answered:", rdb.Set(ctx, "late", "v", 0).Err() == nil)
	fmt.Println("before:", srv.Exists("late"))
	f.Release()
	fmt.Println("after:", srv.Exists("late"))
	// Output:
	// answered: false
	// before: false
	// after: true
}

func ExampleServer_SetError() {
	srv, err := lockredistest.Run()
	if err != nil {
		panic(err)
	}
	defer srv.Close()
	ctx := context.Background()
	rdb := srv.Client()

	srv.SetError("OOM command not allowed when used memory > 'maxmemory'.", "set", "incr")
	fmt.Println(rdb.Set(ctx, "k", "v", 0).Err())
	fmt.Println(rdb.Get(ctx, "k").Err())
	srv.SetError("")
	fmt.Println(rdb.Set(ctx, "k", "v", 0).Err())
	// Output:
	// OOM command not allowed when used memory > 'maxmemory'.
	// redis: nil
	// <nil>
}

// Messages are lost without a trace. A waiter must not depend on one alone.
func ExampleServer_DropMessage() {
	srv, err := lockredistest.Run()
	if err != nil {
		panic(err)
	}
	defer srv.Close()
	ctx := context.Background()
	sub := srv.Client().Subscribe(ctx, "news")
	defer sub.Close()
	if _, err := sub.Receive(ctx); err != nil {
		panic(err)
	}

	srv.DropMessage(lockredistest.MessageMatch{Channel: "new*", Nth: 2})
	for _, text := range []string{"one", "two", "three"} {
		srv.Publish("news", text)
	}
	for range 2 {
		m, _ := sub.ReceiveMessage(ctx)
		fmt.Println(m.Payload)
	}
	// Output:
	// one
	// three
}

// A fault can hit by chance and still be the same in each run of the test.
func ExampleMatch() {
	srv, err := lockredistest.Run()
	if err != nil {
		panic(err)
	}
	defer srv.Close()
	o := srv.Options()
	o.MaxRetries = -1
	rdb := redis.NewClient(o)
	defer rdb.Close()

	n := 0
	srv.LoseReply(lockredistest.Match{
		Command: "get", Times: lockredistest.Always,
		If: func(r lockredistest.Request) bool { n += 7; return n%3 == 0 && r.Args[1] == "k" },
	})
	for range 6 {
		fmt.Print(errors.Is(rdb.Get(context.Background(), "k").Err(), io.EOF), " ")
	}
	// Output: false false true false false true
}

func ExampleServer_Restart() {
	srv, err := lockredistest.Run()
	if err != nil {
		panic(err)
	}
	defer srv.Close()
	ctx := context.Background()
	rdb := srv.Client() // connects again by itself
	rdb.Set(ctx, "k", "v", 0)

	srv.Stop()
	_, err = srv.Dial(ctx, "", "")
	fmt.Println(errors.Is(err, syscall.ECONNREFUSED))
	srv.Restart()
	fmt.Println(rdb.Get(ctx, "k").Val())
	srv.RestartEmpty()
	fmt.Println(rdb.Get(ctx, "k").Err())
	// Output:
	// true
	// v
	// redis: nil
}

func ExampleServer_SetTime() {
	srv, err := lockredistest.Run(lockredistest.ManualClock())
	if err != nil {
		panic(err)
	}
	defer srv.Close()

	srv.SetTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	srv.Set("session", "42")
	srv.SetTTL("session", time.Hour)
	srv.Advance(time.Hour)
	fmt.Println(srv.Now().UTC(), srv.Exists("session"))
	// Output: 2026-01-01 01:00:00 +0000 UTC false
}

func ExampleServer_NewSubscriber() {
	srv, err := lockredistest.Run()
	if err != nil {
		panic(err)
	}
	defer srv.Close()
	sub := srv.NewSubscriber()
	sub.PSubscribe("orders:*")

	srv.Client().Publish(context.Background(), "orders:42", "shipped")
	for _, m := range sub.Messages() {
		fmt.Println(m.Channel, m.Payload)
	}
	// Output: orders:42 shipped
}
