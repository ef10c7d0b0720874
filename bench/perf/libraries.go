//go:build linux

package main

import (
	"context"
	"strconv"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/lockredis/lockredis/lockredistest"
)

// serveMiniredis serves at an address until the process is killed.
func serveMiniredis(addr string) error {
	if err := miniredis.NewMiniRedis().StartAddr(addr); err != nil {
		return err
	}
	select {}
}

// goRedisSpec describes lock pairs that one goroutine runs with go-redis: over a socket
// or, without an address, in memory with lockredistest.
type goRedisSpec struct {
	Addr string
	Span time.Duration
}

// goRedisRole returns pairs per second.
func goRedisRole(p *parent) error {
	var s goRedisSpec
	if err := p.in.Decode(&s); err != nil {
		return err
	}
	options := &redis.Options{
		Addr:                     s.Addr,
		DisableIdentity:          true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
	if s.Addr == "" {
		srv, err := lockredistest.Run()
		if err != nil {
			return err
		}
		defer srv.Close()
		options = srv.Options()
	}
	// Long, because an unlock that is sent again finds nothing to unlock.
	options.ReadTimeout = childPatience
	rdb := redis.NewClient(options)
	defer rdb.Close()
	rate, err := goRedisPairs(rdb, p, s.Span)
	if err != nil {
		return err
	}
	return p.answer(rate)
}

func goRedisPairs(rdb *redis.Client, p *parent, span time.Duration) (float64, error) {
	ctx := context.Background()
	lock, unlock, err := goRedisScripts()
	if err != nil {
		return 0, err
	}
	pair := func(i int) error {
		name := "lock:" + strconv.Itoa(i%1000)
		if err := lock.Run(ctx, rdb, []string{name}, 30000, ownerPrefix+"1").Err(); err != nil &&
			err != redis.Nil {
			return err
		}
		return unlock.Run(ctx, rdb, []string{name, channelPrefix + name}, 30000, ownerPrefix+"1").Err()
	}
	for i := range 1000 {
		if err := pair(i); err != nil {
			return 0, err
		}
	}
	if err := p.ready(); err != nil {
		return 0, err
	}
	began, n := time.Now(), 0
	for ; time.Since(began) < span; n++ {
		if err := pair(n); err != nil {
			return 0, err
		}
	}
	return float64(n) / time.Since(began).Seconds(), nil
}

func goRedisScripts() (lock, unlock *redis.Script, err error) {
	var bodies [2][]byte
	for i, name := range []string{"lock", "unlock"} {
		if bodies[i], err = scripts.ReadFile("scripts/" + name + ".lua"); err != nil {
			return nil, nil, err
		}
	}
	return redis.NewScript(string(bodies[0])), redis.NewScript(string(bodies[1])), nil
}
