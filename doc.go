// Package lockredis is a Redis made for lock work, as a library: a server that
// speaks Redis 7.0's protocol, keeps everything in memory, expires keys to the
// millisecond and runs Lua, so that unmodified Redisson and other lock clients
// work against it with no Redis installed.
//
//	srv := lockredis.New(lockredis.Config{})
//	if err := srv.Start(); err != nil {
//		…
//	}
//	defer srv.Close()
//	rdb := redis.NewClient(&redis.Options{Addr: srv.Addr()})
//
// Servers share nothing: any number can run in one process. cmd/lockredis is
// the same server as a stand-in for the redis-server binary; package lockredistest
// is it for Go tests.
package lockredis
