package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
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
	if v := info["lockredis_release"]; v != "" {
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
	connections    float64       // connections that the server accepted
	calls          calls
}

// calls is the number of calls by command, including the calls of scripts.
type calls map[string]float64

// usage reads the counters. Its own INFO counts as one read.
func (s *server) usage() usage {
	info := s.info()
	u := usage{
		client: clientCPU(),
		server: seconds(info["used_cpu_user"]) + seconds(info["used_cpu_sys"]),
		calls:  calls{},
	}
	u.reads, _ = strconv.ParseFloat(info["total_reads_processed"], 64)
	u.connections, _ = strconv.ParseFloat(info["total_connections_received"], 64)
	for key, value := range info {
		if command, ok := strings.CutPrefix(key, "cmdstat_"); ok && command != "info" {
			var n float64
			_, _ = fmt.Sscanf(value, "calls=%g,", &n)
			u.calls[command] = n
		}
	}
	return u
}

// since returns the use from before to u, without the second INFO.
func (u usage) since(before usage) usage {
	return usage{u.client - before.client, u.server - before.server, u.reads - before.reads - 1,
		u.connections - before.connections, u.calls.plus(before.calls, -1)}
}

func (u usage) plus(v usage) usage {
	return usage{u.client + v.client, u.server + v.server, u.reads + v.reads,
		u.connections + v.connections, u.calls.plus(v.calls, 1)}
}

func (u usage) each(n int) usage {
	calls := calls{}
	for command, m := range u.calls {
		calls[command] = m / float64(n)
	}
	return usage{u.client / time.Duration(n), u.server / time.Duration(n), u.reads / float64(n),
		u.connections / float64(n), calls}
}

// commands returns the number of all calls.
func (u usage) commands() float64 {
	var sum float64
	for _, n := range u.calls {
		sum += n
	}
	return sum
}

// plus returns c with the calls of d, times factor, added.
func (c calls) plus(d calls, factor float64) calls {
	sum := calls{}
	maps.Copy(sum, c)
	for command, n := range d {
		sum[command] += n * factor
	}
	return sum
}

// String lists the commands with their numbers of calls, the most frequent first. It
// omits commands with fewer than 0.05 calls.
func (c calls) String() string {
	commands := slices.Collect(maps.Keys(c))
	slices.SortFunc(commands, func(a, b string) int {
		return cmp.Or(cmp.Compare(c[b], c[a]), cmp.Compare(a, b))
	})
	var list []string
	for _, command := range commands {
		if c[command] >= 0.05 {
			list = append(list, fmt.Sprintf("%s %.1f", command, c[command]))
		}
	}
	return strings.Join(list, ", ")
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
