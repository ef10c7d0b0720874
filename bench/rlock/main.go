// Command rlock measures package rlock beside other Go lock libraries on one
// Redis server: a lock and unlock that nobody contends, and the time from an
// unlock to the next holder's grant. It prints a Markdown page and writes it to
// docs/bench-rlock.md.
//
//	go -C bench/rlock run .            # starts a redis-server of its own
//	go -C bench/rlock run . -addr host:port
//	go -C bench/rlock run . -grants 0 # the pairs only, to the log
//
// It is a module of its own so that the other libraries are no dependencies of
// lockredis. The server must be used by nobody else meanwhile: CPU and commands
// are what the server's INFO tells.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/lockredis/lockredis/bench/awake"
)

// settings are what the flags say.
type settings struct {
	addr   string
	out    string
	only   string
	rounds int // of pairs, the libraries taking turns
	pairs  int // in a round
	grants int // hand-overs in a cell
}

func main() {
	awake.SpinIfAsked()
	log.SetFlags(0)
	var s settings
	flag.StringVar(&s.addr, "addr", "", "measure on this server instead of a redis-server that is started")
	flag.StringVar(&s.out, "out", "../../docs/bench-rlock.md", "where the page goes; empty: to stdout only")
	flag.StringVar(&s.only, "only", "", "measure only the libraries whose name contains one of these, separated by commas")
	flag.IntVar(&s.rounds, "rounds", 7, "rounds of uncontended pairs")
	flag.IntVar(&s.pairs, "pairs", 4000, "uncontended pairs in a round")
	flag.IntVar(&s.grants, "grants", 300, "hand-overs for each number of waiters; 0: pairs only, and no page is written")
	flag.Parse()
	if err := run(s); err != nil {
		log.Fatal(err)
	}
}

func run(s settings) error {
	srv, err := startServer(s.addr)
	if err != nil {
		return err
	}
	defer srv.close()
	stop, err := awake.Keep()
	if err != nil {
		return err
	}
	defer stop()
	r := report{settings: s, server: srv.name(), began: time.Now()}
	for _, l := range libraries() {
		if slices.ContainsFunc(strings.Split(s.only, ","), func(part string) bool { return strings.Contains(l.name, part) }) {
			r.libraries = append(r.libraries, l)
		}
	}
	ctx := context.Background()
	if r.pairs, err = measurePairs(ctx, srv, r.libraries, s); err != nil {
		return err
	}
	if s.grants == 0 {
		return nil
	}
	for _, apart := range []bool{true, false} {
		for _, waiters := range []int{2, 8, 64} {
			for _, l := range r.waiting() {
				h, err := measureHandOver(ctx, srv, l, crowd{waiters, apart, s.grants, holdTime})
				if err != nil {
					return fmt.Errorf("%s, %d waiters: %w", l.name, waiters, err)
				}
				log.Printf("%-40s %2d waiters, clients of their own %-5v p50 %v, p99 %v, %d done", l.name, waiters, apart, h.p50, h.p99, h.done)
				r.handOvers = append(r.handOvers, h)
			}
		}
	}
	page := r.markdown()
	fmt.Print(page)
	if s.out == "" {
		return nil
	}
	return os.WriteFile(s.out, []byte(page), 0o644)
}
