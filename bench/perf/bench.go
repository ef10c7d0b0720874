//go:build linux

package main

import (
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/lockredis/lockredis/bench/awake"
)

// The names of the servers, in the order of the table's columns.
const (
	redisServer = "redis-server"
	valkey      = "valkey"
	miniRedis   = "miniredis"
	lockredis   = "lockredis"
)

// columns are all columns that a table may have.
var columns = []string{redisServer, valkey, miniRedis, base, lockredis, alone, followed}

// bench is one run of the program.
type bench struct {
	settings
	began   time.Time
	loadAvg string   // the machine's load average before the run
	dir     string   // for built programs and the servers' files
	servers []string // the installed servers, which take part in every case
	running map[string]*server
	rows    []row
	notes   []string
	stops   []func()
}

// newBench builds lockredis and finds the servers that this machine has.
func newBench(s settings) (*bench, error) {
	b := &bench{settings: s, began: time.Now(), loadAvg: loadAverage(), running: map[string]*server{}}
	var err error
	if b.dir, err = os.MkdirTemp("", "lockredis-perf"); err != nil {
		return nil, err
	}
	b.stops = append(b.stops, func() { os.RemoveAll(b.dir) })
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-interrupted
		os.RemoveAll(b.dir) // the servers end with this process
		os.Exit(1)
	}()
	if err := b.prepare(); err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

func (b *bench) prepare() error {
	if err := raiseFileLimit(); err != nil {
		return err
	}
	if err := build("../..", b.path(lockredis)); err != nil {
		return err
	}
	for _, name := range []string{redisServer, valkey, lockredis} {
		if name == valkey && (b.short || b.base != "" || b.replica) {
			continue
		}
		if _, err := b.program(name); err != nil {
			if name == redisServer && b.base == "" {
				return err // there is nothing to compare with
			}
			b.note("%s is left out: %v", name, err)
			continue
		}
		b.servers = append(b.servers, name)
	}
	if !b.awake {
		return nil
	}
	stop, err := awake.Keep()
	b.stops = append(b.stops, stop)
	return err
}

func (b *bench) close() {
	for _, s := range b.running {
		s.stop()
	}
	for i := len(b.stops) - 1; i >= 0; i-- {
		b.stops[i]()
	}
}

func (b *bench) path(name string) string { return b.dir + "/" + name }

// note adds a line below the table.
func (b *bench) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	log.Print(text)
	b.notes = append(b.notes, text)
}

// server returns the running server of that name, empty and with all scripts loaded. It
// starts the server at the first call.
func (b *bench) server(name string) (*server, error) {
	s := b.running[name]
	if s == nil {
		var err error
		if s, err = b.start(name); err != nil {
			return nil, err
		}
		b.running[name] = s
	}
	_, err := s.do("FLUSHALL")
	return s, err
}

// withFresh starts a server for one measurement and stops it again.
func (b *bench) withFresh(name string, measure func(*server) (figures, error),
	args ...string) (figures, error) {
	s, err := b.start(name, args...)
	if err != nil {
		return nil, err
	}
	defer s.stop()
	return measure(s)
}

// figures are the results of one measurement, by name.
type figures map[string]float64

// series are the figures of all rounds: by figure, then by server.
type series map[string]map[string][]float64

func (s series) add(server string, f figures) {
	for name, value := range f {
		if s[name] == nil {
			s[name] = map[string][]float64{}
		}
		s[name][server] = append(s[name][server], value)
	}
}

// alternate lets the servers take turns. Each round begins with the next server.
func alternate(servers []string, rounds int, measure func(server string) (figures, error)) (series,
	error) {
	all := series{}
	for round := range rounds {
		for i := range servers {
			name := servers[(round+i)%len(servers)]
			f, err := measure(name)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			all.add(name, f)
		}
	}
	return all, nil
}

// onEach is alternate over the servers that run all the time.
func (b *bench) onEach(rounds int, measure func(*server) (figures, error)) (series, error) {
	return alternate(b.servers, rounds, func(name string) (figures, error) {
		s, err := b.server(name)
		if err != nil {
			return nil, err
		}
		f, err := measure(s)
		return f, errors.Join(err, s.alive())
	})
}

// onFresh is alternate over servers that are started for each measurement.
func (b *bench) onFresh(rounds int, measure func(*server) (figures, error),
	args ...string) (series, error) {
	return alternate(b.servers, rounds, func(name string) (figures, error) {
		return b.withFresh(name, measure, args...)
	})
}

// raiseFileLimit lets this process and its children open as many files as the
// system allows: 10,000 connections have two ends.
func raiseFileLimit() error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	limit.Cur = limit.Max
	return syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)
}
