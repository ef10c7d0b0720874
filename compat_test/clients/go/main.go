// Command go checks Go's client libraries on the server at a port of 127.0.0.1.
// ../README.md describes what it prints.
package main

import (
	"context"
	"log"
	"net"
	"os"

	"github.com/redis/go-redis/v9"
)

// addr is the server's address.
var addr string

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: go PORT")
	}
	addr = net.JoinHostPort("127.0.0.1", os.Args[1])
	admin := redis.NewClient(&redis.Options{Addr: addr})
	for _, checks := range []func(){checkGoRedis, checkRueidis, checkRedigo, checkRedislock, checkRedsync, checkAsynq} {
		empty(admin)
		checks()
	}
}

// empty removes the keys, scripts and functions that other checks left.
func empty(admin *redis.Client) {
	_, err := admin.Pipelined(context.Background(), func(pipe redis.Pipeliner) error {
		pipe.FlushAll(context.Background())
		pipe.ScriptFlush(context.Background())
		pipe.FunctionFlush(context.Background())
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
}
