//go:build linux

package main

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/lockredis/lockredis/internal/redistest"
)

// The two primaries that measureReplica compares.
const (
	alone    = "without a replica"
	followed = "with one replica"
)

// measureReplica measures pairs of lock and unlock on a primary with one replica beside the same on a
// primary without. The replica is a process on the same machine, so the rates tell how many CPUs it has.
// The CPU time of the primary for a pair tells what telling the replica costs.
func measureReplica(b *bench) error {
	programs := b.servers
	b.servers = []string{alone, followed}
	for _, program := range programs {
		replica, err := b.startPair(program)
		if err != nil {
			return fmt.Errorf("%s: %w", program, err)
		}
		for _, pipeline := range []int{1, 16} {
			all, err := b.onEach(b.rounds, func(s *server) (figures, error) {
				return b.costOfPairs(s, pipeline)
			})
			if err != nil {
				return fmt.Errorf("%s: %w", program, err)
			}
			name := fmt.Sprintf("%s: lock and unlock, pipeline %d", program, pipeline)
			b.addRow(row{name, "pairs/s", all["rate"], followed, alone, nil})
			b.addRow(row{name + ", CPU of the primary", "µs/pair", all["cpu"], followed, alone,
				ratioAtMost(1.3, 1.2)})
		}
		for _, s := range []*server{replica, b.running[alone], b.running[followed]} {
			s.stop()
		}
		clear(b.running)
	}
	fmt.Print(b.markdown())
	return nil
}

// startPair starts two primaries of a program, and a replica of the second.
func (b *bench) startPair(program string) (replica *server, err error) {
	for _, name := range b.servers {
		if b.running[name], err = b.start(program); err != nil {
			return nil, err
		}
	}
	host, port, err := net.SplitHostPort(b.running[followed].addr)
	if err != nil {
		return nil, err
	}
	if replica, err = b.start(program); err != nil {
		return nil, err
	}
	if _, err = replica.do("REPLICAOF", host, port); err != nil {
		return nil, err
	}
	for end := time.Now().Add(controlTimeout); ; time.Sleep(10 * time.Millisecond) {
		info, err := redistest.Info(replica.addr, "replication")
		switch {
		case err != nil:
			return nil, err
		case info["master_link_status"] == "up":
			return replica, nil
		case time.Now().After(end):
			return nil, fmt.Errorf("the replica has no link to its primary")
		}
	}
}

// costOfPairs measures how many pairs run in a second, and the CPU time of the server for one, in µs.
func (b *bench) costOfPairs(s *server, pipeline int) (figures, error) {
	scripts, began, err := s.scriptsRun()
	if err != nil {
		return nil, err
	}
	f, err := b.load(s, crowdSize, pipeline, nil, s.lockSteps(), b.span)
	if err != nil {
		return nil, err
	}
	after, ended, err := s.scriptsRun()
	f["cpu"] = float64((ended - began).Microseconds()) / (float64(after-scripts) / 2)
	return f, err
}

// scriptsRun returns how many EVALSHA the server has run, and its CPU time.
func (s *server) scriptsRun() (n int, cpu time.Duration, err error) {
	info, err := redistest.Info(s.addr, "commandstats")
	if err != nil {
		return 0, 0, err
	}
	if stats, ran := info["cmdstat_evalsha"]; ran {
		calls, _, _ := strings.Cut(strings.TrimPrefix(stats, "calls="), ",")
		if n, err = strconv.Atoi(calls); err != nil {
			return 0, 0, err
		}
	}
	cpu, err = s.cpu()
	return n, cpu, err
}
