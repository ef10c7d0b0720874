//go:build linux

package main

import (
	"fmt"
	"time"
)

// benchCase measures one thing and adds rows to the table.
type benchCase struct {
	name string // for -case
	run  func(*bench) error
}

var cases = []benchCase{
	{"pair", pairs},
	{"script", scriptAlone},
	{"sequential", sequential},
	{"kinds", lockKinds},
	{"commands", plainCommands},
	{"handover", handOvers},
	{"publish", publishes},
	{"memory", memory},
	{"expiry", expiries},
	{"connections", manyConnections},
	{"binary", binary},
	{"idle", idle},
	{"goredis", goRedis},
	{"engine", engine},
	{"miniredis", besideMiniredis},
	{"empty", besideEmpty},
	{"redisson", redisson},
}

// crowdSize is the number of connections in most cases.
const crowdSize = 50

func pairs(b *bench) error {
	forms := []struct {
		name  string
		steps func(*server) []step
	}{
		{"lock and unlock by EVALSHA", (*server).lockSteps},
		{"the same with latch and its DEL, as Redisson ≥ 3.24", (*server).latchSteps},
	}
	for _, form := range forms {
		for _, pipeline := range []int{1, 16} {
			all, err := b.onEach(b.rounds, func(s *server) (figures, error) {
				return b.load(s, crowdSize, pipeline, nil, form.steps(s), b.span)
			})
			if err != nil {
				return err
			}
			wanted := ratioAtLeast(1.05, 1.3)
			if pipeline > 1 {
				wanted = ratioAtLeast(1.6, 2.0)
			}
			b.add(fmt.Sprintf("%s, %d connections, pipeline %d", form.name, crowdSize, pipeline), "pairs/s",
				all["rate"], wanted)
		}
	}
	return nil
}

func lockKinds(b *bench) error {
	held := func(s *server) []step { return s.lockSteps()[:1] }
	permits := func(*server) []step { return []step{{[]string{"SET", lockName, "10"}, "+OK\r\n"}} }
	nothing := func(*server) []step { return nil }
	kinds := []struct {
		name, unit    string
		before, steps func(*server) []step
	}{
		{"fair lock and unlock", "pairs/s", nothing, (*server).fairSteps},
		{"read lock and unlock", "pairs/s", nothing, (*server).readSteps},
		{"write lock and unlock", "pairs/s", nothing, (*server).writeSteps},
		{"semaphore: acquire and release", "pairs/s", permits, (*server).semaphoreSteps},
		{"renewal of a lock", "/s", held, (*server).renewSteps},
	}
	for _, kind := range kinds {
		all, err := b.onEach(b.rounds, func(s *server) (figures, error) {
			return b.load(s, crowdSize, 1, kind.before(s), kind.steps(s), b.span)
		})
		if err != nil {
			return fmt.Errorf("%s: %w", kind.name, err)
		}
		b.add(fmt.Sprintf("%s, %d connections", kind.name, crowdSize), kind.unit, all["rate"],
			ratioAtLeast(1.05, 1.3))
	}
	return nil
}

func plainCommands(b *bench) error {
	const key, ok = "key:{slot}", "+OK\r\n"
	set := step{[]string{"SET", key, "value"}, ok}
	field := []string{"HSET", key, "field", "value"}
	commands := []struct {
		name          string
		before, steps []step
	}{
		{"GET", []step{set}, []step{{[]string{"GET", key}, "$5\r\nvalue\r\n"}}},
		{"SET", nil, []step{set}},
		{"HSET", []step{{field, one}}, []step{{field, zero}}},
		{"INCR (and DECR in turn)", nil, []step{{[]string{"INCR", key}, one}, {[]string{"DECR", key}, zero}}},
		{"PING", nil, []step{{[]string{"PING"}, "+PONG\r\n"}}},
	}
	for _, pipeline := range []int{1, 16} {
		for _, c := range commands {
			all, err := b.onEach(b.rounds, func(s *server) (figures, error) {
				f, err := b.load(s, crowdSize, pipeline, c.before, c.steps, b.span)
				return figures{"rate": f["rate"] * float64(len(c.steps))}, err
			})
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			b.add(fmt.Sprintf("%s, %d connections, pipeline %d", c.name, crowdSize, pipeline), "/s",
				all["rate"], ratioAtLeast(pick(pipeline == 1, 0.9, 0.8), 1.0))
		}
	}
	return nil
}

func sequential(b *bench) error {
	all, err := b.onEach(b.rounds, func(s *server) (figures, error) {
		r, err := playOnce[latencyResult]("latency",
			latencySpec{Addr: s.addr, Steps: s.lockSteps(), Span: b.span})
		return figures{"rate": r.Rate, "p50": r.P50, "p99": r.P99}, err
	})
	if err != nil {
		return err
	}
	b.add("one connection, sequential: lock and unlock", "pairs/s", all["rate"],
		ratioAtLeast(0.95, 1.1))
	b.add("one connection, sequential: p50 of an EVALSHA", "µs", all["p50"], ratioAtMost(1.1, 1.0))
	b.add("one connection, sequential: p99 of an EVALSHA", "µs", all["p99"], ratioAtMost(1.1, 1.0))
	return nil
}

// besideMiniredis measures the first pair again, beside miniredis.
func besideMiniredis(b *bench) error {
	all, err := alternate([]string{miniRedis, lockredis}, b.rounds,
		func(name string) (figures, error) {
			s, err := b.server(name)
			if err != nil {
				return nil, err
			}
			return b.load(s, crowdSize, 1, nil, s.lockSteps(), b.span)
		})
	if err != nil {
		return err
	}
	name := fmt.Sprintf("lock and unlock by EVALSHA, %d connections, beside miniredis", crowdSize)
	b.addAgainst(miniRedis, name, "pairs/s", all["rate"], ratioAtLeast(60, 80))
	return nil
}

func handOvers(b *bench) error {
	for _, waiters := range []int{2, 16, 128} {
		all, err := b.onEach(b.rounds, func(s *server) (figures, error) {
			const name = "orders"
			r, err := playOnce[handOverResult]("handover", handOverSpec{
				Addr: s.addr, Waiters: waiters, Grants: pick(b.short, 200, 1000), Lock: name,
				SHA:       s.shas["lock"],
				UnlockSHA: s.shas["unlock"], Channel: channelPrefix + "{" + name + "}",
				OwnerPrefix: ownerPrefix,
			})
			return figures{"p50": r.P50, "p99": r.P99}, err
		})
		if err != nil {
			return err
		}
		for _, p := range []string{"p50", "p99"} {
			b.add(fmt.Sprintf("hand-over, unlock to the next grant, %d waiters: %s", waiters, p), "µs",
				all[p], ratioAtMost(1.0, 0.8))
		}
	}
	return nil
}

func publishes(b *bench) error {
	for _, subscribers := range []int{1, 100, 1000} {
		all, err := b.onEach(b.rounds, func(s *server) (figures, error) {
			rate, err := playOnce[float64]("publish", publishSpec{s.addr, subscribers,
				pick(subscribers > 1, 10, crowdSize), b.span})
			return figures{"rate": rate}, err
		})
		if err != nil {
			return err
		}
		b.add(fmt.Sprintf("PUBLISH to %s", count(subscribers, "subscriber")), "messages/s", all["rate"],
			ratioAtLeast(1.0, 1.5))
	}
	return nil
}

func goRedis(b *bench) error {
	all, err := alternate([]string{redisServer, lockredis}, b.rounds,
		func(name string) (figures, error) {
			spec := goRedisSpec{Span: b.span}
			if name == redisServer {
				s, err := b.server(name)
				if err != nil {
					return nil, err
				}
				spec.Addr = s.addr
			}
			rate, err := playOnce[float64]("goredis", spec)
			return figures{"rate": rate}, err
		})
	if err != nil {
		return err
	}
	b.add("go-redis, one goroutine: lock and unlock, lockredistest's Dial beside loopback", "pairs/s",
		all["rate"], ratioAtLeast(3, 5))
	return nil
}

const tenThousand = 10_000

func manyConnections(b *bench) error {
	all, err := b.onFresh(pick(b.short, 1, 3), func(s *server) (figures, error) {
		before, err := s.residentAfter(settle)
		if err != nil {
			return nil, err
		}
		c, err := startChild("load", loadSpec{Addr: s.addr, Connections: tenThousand, Pipeline: 1,
			Slots: 1, Steps: s.lockSteps(), Span: 2 * b.span})
		if err != nil {
			return nil, err
		}
		defer c.end()
		idle, err := s.residentAfter(settle)
		if err != nil {
			return nil, err
		}
		var rate float64
		if err := c.start(); err != nil {
			return nil, err
		}
		if err := c.result(&rate); err != nil {
			return nil, err
		}
		busy, err := s.residentAfter(0)
		return figures{
			"idle": (idle - before) / tenThousand / 1024, "busy": (busy - before) / tenThousand / 1024,
			"rate": rate / float64(len(s.lockSteps())),
		}, err
	})
	if err != nil {
		return err
	}
	b.add("10,000 connections, each used once: resident memory each", "KB", all["idle"],
		valueAtMost(20, 10))
	b.add("10,000 connections, all active: resident memory each", "KB", all["busy"],
		valueAtMost(20, 10))
	b.add("10,000 connections, all active: lock and unlock", "pairs/s", all["rate"],
		only(ratioAtLeast(1.0, 0)))
	return nil
}

// settle is how long a server stays idle before its memory is read.
const settle = 500 * time.Millisecond
