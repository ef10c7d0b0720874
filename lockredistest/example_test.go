package lockredistest_test

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/lockredistest"
)

// A test calls RunT(t) and does not close the server.
func ExampleRun() {
	srv, err := lockredistest.Run()
	if err != nil {
		panic(err)
	}
	defer srv.Close()

	rdb := srv.Client()
	rdb.Set(context.Background(), "greeting", "hello", time.Minute)

	fmt.Println(srv.Get("greeting"))
	fmt.Println(srv.Keys(), srv.TTL("greeting") > 59*time.Second)
	// Output:
	// hello <nil>
	// [greeting] true
}

// A client with its own options needs no port either.
func ExampleServer_Dial() {
	srv, err := lockredistest.Run()
	if err != nil {
		panic(err)
	}
	defer srv.Close()

	rdb := redis.NewClient(&redis.Options{Dialer: srv.Dial, ClientName: "orders", DB: 3})
	defer rdb.Close()
	rdb.RPush(context.Background(), "queue", "a", "b")

	fmt.Println(srv.DB(3).List("queue"))
	// Output: [a b] <nil>
}

func ExampleServer_Advance() {
	srv, err := lockredistest.Run(lockredistest.ManualClock())
	if err != nil {
		panic(err)
	}
	defer srv.Close()

	srv.Set("session", "42")
	srv.SetTTL("session", time.Hour)
	srv.Advance(59 * time.Minute)
	fmt.Println(srv.Exists("session"), srv.TTL("session"))
	srv.Advance(time.Minute)
	fmt.Println(srv.Exists("session"))
	// Output:
	// true 1m0s
	// false
}

func ExampleServer_Locks() {
	srv, err := lockredistest.Run(lockredistest.ManualClock())
	if err != nil {
		panic(err)
	}
	// A lock client acquires with a script, for the owner <client's id>:<thread>.
	take := redis.NewScript(`return redis.call('hincrby', KEYS[1], ARGV[1], 1)`)
	owner := "6f1c1a2e-54b7-4f7c-9d4a-0c2f6a8e3b11:17"
	take.Run(context.Background(), srv.Client(), []string{"orders:42"}, owner)

	for _, l := range srv.Locks() {
		fmt.Println(l.Kind, l.Name, l.Holders[0].Owner, l.Holders[0].Count)
	}
	fmt.Println(srv.Close())
	// Output:
	// lock orders:42 6f1c1a2e-54b7-4f7c-9d4a-0c2f6a8e3b11:17 1
	// lockredistest: left behind (AllowLeaks turns this check off):
	// 	lock "orders:42" is held by 6f1c1a2e-54b7-4f7c-9d4a-0c2f6a8e3b11:17, hold count 1, for ever, acquired 0s ago; its client was pipe:1
}
