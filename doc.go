// Package lockredis is a Redis server for lock work, as a library. It speaks the protocol of
// Redis 7.0, keeps everything in memory, expires keys to the millisecond and runs Lua.
// Unmodified Redisson and other lock clients work with it; no Redis has to be installed.
//
//	srv := lockredis.New(lockredis.Config{})
//	if err := srv.Start(); err != nil {
//		…
//	}
//	defer srv.Close()
//	rdb := redis.NewClient(&redis.Options{Addr: srv.Addr()})
//
// A program that has a listener of its own calls [Server.Serve] in place of Start. To end the
// server without breaking off commands it calls [Server.Shutdown] in place of Close.
//
// Servers share nothing: any number of them can run in one process. The command
// cmd/lockredis runs the same server in place of redis-server. Package lockredistest runs it
// in Go tests.
package lockredis
