// Command rlock measures package rlock beside other Go lock libraries on one Redis
// server. It measures an uncontended lock and unlock, and the time from an unlock to the
// next holder's grant. It prints a Markdown page and writes it to docs/bench-rlock.md.
//
//	go -C bench/rlock run .           # starts its own redis-server
//	go -C bench/rlock run . -addr host:port
//	go -C bench/rlock run . -grants 0 # prints the tables of pairs only
//	go -C bench/rlock run . -grants 0 -only rlock,bsm/redislock # 20 seconds
//
// It is a module of its own, so that lockredis does not depend on the other libraries. No
// other client may use the server meanwhile: CPU time and commands come from the server's
// INFO.
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

// settings are the values of the flags.
type settings struct {
	addr   string
	out    string
	only   string
	turns  int // pairs of each library in the measurement of times
	rounds int // rounds in the measurement of costs
	pairs  int // pairs in a round
	grants int // hand-overs in a cell of the table
}

func main() {
	awake.SpinIfAsked()
	log.SetFlags(0)
	var s settings
	flag.StringVar(&s.addr, "addr", "", "measure on this server; empty: start a redis-server")
	flag.StringVar(&s.out, "out", "../../docs/bench-rlock.md", "file for the page; empty: stdout only")
	flag.StringVar(&s.only, "only", "",
		"measure only libraries whose name contains one of these words, separated by commas")
	flag.IntVar(&s.turns, "turns", 30000,
		"uncontended pairs of each library that are timed; the libraries take turns pair by pair")
	flag.IntVar(&s.rounds, "rounds", 7, "rounds of uncontended pairs for CPU time, commands and rates")
	flag.IntVar(&s.pairs, "pairs", 4000, "uncontended pairs in a round")
	flag.IntVar(&s.grants, "grants", 300,
		"hand-overs for each number of waiters; 0: only the tables of pairs, to stdout")
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
		if slices.ContainsFunc(strings.Split(s.only, ","), func(part string) bool {
			return strings.Contains(l.name, part)
		}) {
			r.libraries = append(r.libraries, l)
		}
	}
	ctx := context.Background()
	if r.pairs, err = measurePairs(ctx, srv, r.pairing(), s); err != nil {
		return err
	}
	if s.grants == 0 {
		fmt.Print(r.pairTables())
		return nil
	}
	for _, apart := range []bool{true, false} {
		for _, waiters := range []int{2, 8, 64} {
			for _, l := range r.waiting() {
				h, err := measureHandOver(ctx, srv, l, crowd{waiters, apart, s.grants, holdTime})
				if err != nil {
					return fmt.Errorf("%s, %d waiters: %w", l.name, waiters, err)
				}
				log.Printf("%-40s %2d waiters, clients of their own %-5v p50 %v, p99 %v, %d done", l.name,
					waiters, apart, h.p50, h.p99, h.done)
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
