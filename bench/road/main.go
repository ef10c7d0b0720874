package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/lockredis/lockredis/compat_test/wire"
	"github.com/lockredis/lockredis/internal/redistest"
)

// requests is how many requests are counted.
const requests = 1000

const module = "github.com/lockredis/lockredis/"

// road is one kind of request.
type road struct {
	name string
	most int                              // functions that a request enters, by the test
	line func(n int, sha string) []string // of the n-th request
}

var roads = []road{
	{"PING", 89, func(int, string) []string { return []string{"PING"} }},
	{"EVALSHA of the lock script", 199, func(n int, sha string) []string {
		return []string{"EVALSHA", sha, "1", "lock:" + strconv.Itoa(n), "30000", "client:1"}
	}},
}

func main() {
	list := flag.Bool("list", false, "print the functions, and how often a request enters them")
	flag.Parse()
	if err := run(*list); err != nil {
		fmt.Fprintln(os.Stderr, "road:", err)
		os.Exit(1)
	}
}

func run(list bool) error {
	dir, err := os.MkdirTemp("", "road-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program, err := build(dir)
	if err != nil {
		return err
	}
	for _, r := range roads {
		visits, err := r.visits(program, dir)
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		fmt.Printf("%s: %d functions\n", r.name, len(visits))
		for _, v := range visits {
			if list {
				fmt.Printf("%8.1f %s\n", v.times, v.name)
			}
		}
	}
	return nil
}

// build builds lockredis with counters, in the folder dir.
func build(dir string) (program string, err error) {
	program = filepath.Join(dir, "lockredis")
	build := exec.Command("go", "build", "-cover", "-covermode=atomic", "-coverpkg=./...",
		"-o", program, "./cmd/lockredis")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return "", fmt.Errorf("build lockredis in the module's root: %w", err)
	}
	return program, nil
}

// visits returns the functions that a request enters.
func (r road) visits(program, dir string) ([]visit, error) {
	none, err := r.profile(program, dir, 0)
	if err != nil {
		return nil, err
	}
	all, err := r.profile(program, dir, requests)
	if err != nil {
		return nil, err
	}
	return entered(none, all, requests, open)
}

// open reads a source file of the module by the name that a profile has for it.
func open(name string) ([]byte, error) { return os.ReadFile(strings.TrimPrefix(name, module)) }

// profile returns the coverage profile of a server that has answered n requests of one client,
// one after the other.
func (r road) profile(program, dir string, n int) (text string, err error) {
	counts, err := os.MkdirTemp(dir, "counts-")
	if err != nil {
		return "", err
	}
	if err := os.Setenv("GOCOVERDIR", counts); err != nil { // the server inherits it
		return "", err
	}
	s, err := redistest.Command{Program: program}.Start()
	if err != nil {
		return "", err
	}
	defer s.Stop()
	if err := s.Await(); err != nil {
		return "", err
	}
	if err := r.send(s.Addr, n); err != nil {
		return "", err
	}
	server, err := os.FindProcess(s.PID)
	if err == nil {
		err = server.Signal(syscall.SIGTERM) // its end writes the counts
	}
	if err != nil {
		return "", err
	}
	<-s.Ended()
	out := filepath.Join(counts, "profile")
	tool := exec.Command("go", "tool", "covdata", "textfmt", "-i="+counts, "-o="+out)
	tool.Stderr = os.Stderr
	if err := tool.Run(); err != nil {
		return "", fmt.Errorf("go tool covdata: %w", err)
	}
	profile, err := os.ReadFile(out)
	return string(profile), err
}

// send loads the lock script and sends n requests.
func (r road) send(addr string, n int) error {
	c, err := wire.Dial(addr)
	if err != nil {
		return err
	}
	defer c.Close()
	script, err := os.ReadFile("bench/perf/scripts/lock.lua")
	if err != nil {
		return err
	}
	sha, err := c.Do("SCRIPT", "LOAD", string(script))
	if err != nil {
		return err
	}
	for i := range n {
		v, err := c.Do(r.line(i, string(sha.Str))...)
		if err == nil && v.IsError() {
			err = fmt.Errorf("reply %s", v)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
