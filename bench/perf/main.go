//go:build linux

package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"regexp"
	"time"

	"github.com/lockredis/lockredis/bench/awake"
)

// settings are the values of the flags.
type settings struct {
	short   bool
	only    *regexp.Regexp
	out     string // the file of the page; empty for none
	base    string // a commit to compare with
	replica bool   // measure what a replica costs
	rounds  int
	span    time.Duration // length of one measurement of throughput
	awake   bool
}

// roles are what this program does as a child of itself. A role reads a spec, reports
// that it is ready, waits for the word to begin, and returns a result.
var roles = map[string]func(child *parent) error{
	"load":     loadRole,
	"latency":  latencyRole,
	"handover": handOverRole,
	"publish":  publishRole,
	"expired":  expiredRole,
	"goredis":  goRedisRole,
}

// servers are the servers that this program is as a child of itself, until it is killed.
var servers = map[string]func(addr string) error{
	miniRedis:   serveMiniredis,
	emptyServer: serveEmpty,
}

func main() {
	log.SetFlags(0)
	awake.SpinIfAsked()
	if len(os.Args) == 3 && os.Args[1] == "-role" {
		if err := playRole(os.Args[2]); err != nil {
			log.Fatalf("%s: %v", os.Args[2], err)
		}
		return
	}
	if len(os.Args) == 4 && os.Args[1] == "-serve" {
		log.Fatal(servers[os.Args[2]](os.Args[3]))
	}
	s, err := parseFlags()
	if err == nil {
		err = run(s)
	}
	if err != nil {
		log.Fatal(err)
	}
}

func parseFlags() (settings, error) {
	var s settings
	only := flag.String("case", "",
		"measure only the cases whose name matches this regular expression")
	flag.BoolVar(&s.short, "short", false, "run a selection that takes 90 seconds")
	flag.StringVar(&s.out, "out", "../../docs/performance.md",
		"the page whose table a complete run rewrites; empty: none")
	flag.StringVar(&s.base, "base", "", "compare the working tree only with this commit")
	flag.BoolVar(&s.replica, "replica", false, "measure only what a replica costs its primary")
	flag.IntVar(&s.rounds, "rounds", 0, "rounds of each case; 0: 5, or 2 with -short")
	flag.DurationVar(&s.span, "span", 0,
		"length of one measurement of throughput; 0: 700 ms, or 200 ms with -short")
	flag.BoolVar(&s.awake, "awake", true, "keep the CPUs from sleeping, see bench/awake")
	flag.Parse()
	if s.rounds == 0 {
		s.rounds = pick(s.short, 2, 5)
	}
	if s.span == 0 {
		s.span = pick(s.short, 200*time.Millisecond, 700*time.Millisecond)
	}
	if s.short || *only != "" {
		s.out = ""
	}
	var err error
	s.only, err = regexp.Compile(*only)
	return s, err
}

func run(s settings) error {
	b, err := newBench(s)
	if err != nil {
		return err
	}
	defer b.close()
	if s.base != "" {
		return compareCommits(b)
	}
	if s.replica {
		return measureReplica(b)
	}
	failed := 0
	for _, c := range cases {
		if !s.only.MatchString(c.name) {
			continue
		}
		began := time.Now()
		if err := c.run(b); err != nil {
			b.note("%s: failed: %v", c.name, err)
			failed++
		}
		log.Printf("%s: %v", c.name, time.Since(began).Round(100*time.Millisecond))
	}
	fmt.Print(b.markdown())
	if s.out != "" {
		if err := renewPage(s.out, b.markdown()); err != nil {
			return err
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d cases failed", failed)
	}
	return nil
}

// parent is the process that started this one.
type parent struct {
	in  *json.Decoder
	out io.Writer
}

// ready reports to the parent that the role is ready. It returns when the parent says to
// begin.
func (p *parent) ready() error {
	fmt.Fprintln(p.out, "ready")
	var word string
	return p.in.Decode(&word)
}

func (p *parent) answer(result any) error { return json.NewEncoder(p.out).Encode(result) }

// playRole runs a role and waits for the end of standard input. Until then the role keeps
// its connections and memory, so that the parent can look at them.
func playRole(name string) error {
	role := roles[name]
	if role == nil {
		return fmt.Errorf("no such role")
	}
	p := &parent{json.NewDecoder(os.Stdin), os.Stdout}
	if err := role(p); err != nil {
		return err
	}
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

func pick[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}
