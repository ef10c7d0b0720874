package main

import (
	"bufio"
	"context"
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/internal/redistest"
)

// server is the Redis server that all libraries use.
type server struct {
	addr string
	rdb  *redis.Client // for INFO
	stop func()
}

// startServer starts a redis-server, or uses the server at addr.
func startServer(addr string) (*server, error) {
	s := &server{addr: addr, stop: func() {}}
	if addr == "" {
		own, err := redistest.Command{}.Start()
		if err != nil {
			return nil, err
		}
		if err := own.Await(); err != nil {
			own.Stop()
			return nil, err
		}
		s.addr, s.stop = own.Addr, own.Stop
	}
	s.rdb = redis.NewClient(&redis.Options{Addr: s.addr})
	if err := s.rdb.Ping(context.Background()).Err(); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *server) close() {
	s.rdb.Close()
	s.stop()
}

// name returns the server's kind and version.
func (s *server) name() string {
	info := s.info()
	if v := info["lockredis_version"]; v != "" {
		return "lockredis " + v
	}
	return "redis-server " + info["redis_version"]
}

func (s *server) info() map[string]string {
	fields := map[string]string{}
	lines := bufio.NewScanner(strings.NewReader(s.rdb.Info(context.Background(), "everything").Val()))
	for lines.Scan() {
		if key, value, ok := strings.Cut(lines.Text(), ":"); ok {
			fields[key] = value
		}
	}
	return fields
}

// usage is the use of resources up to a moment, or between two moments.
type usage struct {
	client, server time.Duration // CPU
	reads          float64       // reads of requests by the server: one for each round trip
	commands       float64       // commands, including those in scripts
}

// usage reads the counters. Its own INFO counts as one read.
func (s *server) usage() usage {
	info := s.info()
	u := usage{
		client: clientCPU(),
		server: seconds(info["used_cpu_user"]) + seconds(info["used_cpu_sys"]),
	}
	u.reads, _ = strconv.ParseFloat(info["total_reads_processed"], 64)
	for key, value := range info {
		if strings.HasPrefix(key, "cmdstat_") && key != "cmdstat_info" {
			var calls float64
			_, _ = fmt.Sscanf(value, "calls=%g,", &calls)
			u.commands += calls
		}
	}
	return u
}

// since returns the use from before to u, without the second INFO.
func (u usage) since(before usage) usage {
	return usage{u.client - before.client, u.server - before.server, u.reads - before.reads - 1,
		u.commands - before.commands}
}

func (u usage) plus(v usage) usage {
	return usage{u.client + v.client, u.server + v.server, u.reads + v.reads, u.commands + v.commands}
}

func (u usage) each(n int) usage {
	return usage{u.client / time.Duration(n), u.server / time.Duration(n), u.reads / float64(n),
		u.commands / float64(n)}
}

func seconds(text string) time.Duration {
	s, _ := strconv.ParseFloat(text, 64)
	return time.Duration(s * float64(time.Second))
}

// clientCPU returns the CPU time of this process.
func clientCPU() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
