package differential

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockredis/lockredis/internal/redistest"
)

var printCoverage = flag.Bool("coverage", false,
	"print how often each command and option succeeded and failed")

// triesForChance is how often a sequence that failed once and then passed is run again.
const triesForChance = 5

// batchSize is how many sequences one call of rapid checks. It is small enough to keep to
// the budget, and large enough to need few calls.
const batchSize = 20

// settings are the values of the environment variables, see doc.go.
type settings struct {
	budget   time.Duration
	commands int
	seed     uint64
	survey   bool
	only     string
}

func readSettings(t *testing.T) settings {
	t.Helper()
	s := settings{budget: 5 * time.Second, seed: uint64(time.Now().UnixNano() & 0xffffffff)}
	switch {
	case redistest.Whole():
		s.budget = 10 * time.Second
	case redistest.Quick(): // does not depend on chance
		s.budget, s.seed = 2*time.Second, 1
	}
	number := func(name string, into *uint64) {
		text := os.Getenv(name)
		if text == "" {
			return
		}
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		*into = n
	}
	var commands uint64
	number("LOCKREDIS_DIFF_COMMANDS", &commands)
	number("LOCKREDIS_DIFF_SEED", &s.seed)
	s.commands = int(commands)
	if text := os.Getenv("LOCKREDIS_DIFF_BUDGET"); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil {
			t.Fatalf("LOCKREDIS_DIFF_BUDGET: %v", err)
		}
		s.budget = d
	}
	s.survey = os.Getenv("LOCKREDIS_DIFF_SURVEY") != ""
	s.only = os.Getenv("LOCKREDIS_DIFF_ONLY")
	return s
}

// done reports whether the run has enough commands, or has used its time.
func (s settings) done(commands int, since time.Time) bool {
	if s.commands > 0 {
		return commands >= s.commands
	}
	return time.Since(since) >= s.budget
}

func TestEveryGeneratedCommandIsAnsweredAsByRedis(t *testing.T) {
	s := readSettings(t)
	p := newPair(startOracle(t), startTarget(t))
	t.Cleanup(p.close)
	start := time.Now()
	p.check(t, newMaker(s.only), s)
	took := time.Since(start)
	t.Logf("%d commands in %d sequences, %d invalidations, %d not compared in time, %s",
		p.report.commands, p.runs, p.report.pushes, p.report.slow, took.Round(time.Millisecond))
	p.report.check(t, s)
}

// TestEveryCommandIsAnsweredAsByRedisInACluster sends sequences to two clusters of one node.
// A long run has an eighth of the commands.
func TestEveryCommandIsAnsweredAsByRedisInACluster(t *testing.T) {
	s := readSettings(t)
	s.commands, s.budget = s.commands/8, s.budget/2
	p := newPair(startNodes(t))
	p.cluster = true
	t.Cleanup(p.close)
	p.check(t, newMaker(s.only), s)
	t.Logf("%d commands in %d sequences", p.report.commands, p.runs)
	if *printCoverage {
		fmt.Print(p.report.table())
	}
}

// check compares the servers on generated sequences, as the settings say.
func (p *pair) check(t *testing.T, m *maker, s settings) {
	t.Logf("LOCKREDIS_DIFF_SEED=%d", s.seed)
	if s.survey {
		survey(t, p, m, s)
	} else {
		checkBatches(t, p, m, s)
	}
}

// checkBatches lets rapid check batch after batch. Each batch has its own seed, which
// reproduces it alone.
func checkBatches(t *testing.T, p *pair, m *maker, s settings) {
	gen := m.sequences()
	set := func(name, value string) {
		if err := flag.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	set("rapid.checks", strconv.Itoa(batchSize))
	set("rapid.nofailfile", "true")
	set("rapid.shrinktime", "5s") // minimize continues from there
	start, told := time.Now(), time.Now()
	for batch := uint64(0); !s.done(p.report.commands, start); batch++ {
		seed := s.seed + 1000*batch
		set("rapid.seed", strconv.FormatUint(max(seed, 1), 10))
		var failing *sequence
		var seen *difference
		check := rapid.MakeCheck(func(rt *rapid.T) {
			seq := gen.Draw(rt, "sequence")
			d, err := p.run(seq)
			if err != nil {
				rt.Fatalf("the test itself: %v", err)
			}
			if d != nil {
				failing, seen = &seq, d
				rt.Fatalf("%s", d)
			}
		})
		passed := t.Run("seed "+strconv.FormatUint(seed, 10), func(t *testing.T) {
			defer func() {
				if failing != nil {
					t.Logf("reproduce with LOCKREDIS_DIFF_SEED=%d\n%s", seed, p.explain(*failing, seen))
				}
			}()
			check(t)
		})
		if !passed {
			return
		}
		if s.commands > 0 && time.Since(told) > 10*time.Second {
			told = time.Now()
			fmt.Printf("differential: %d of %d commands, %s\n", p.report.commands, s.commands,
				time.Since(start).Round(time.Second))
		}
	}
}

// explain shrinks a failing sequence further and renders it with its difference.
func (p *pair) explain(s sequence, seen *difference) string {
	d, err := p.run(s)
	for i := 0; i < triesForChance && d == nil && err == nil; i++ {
		d, err = p.run(s)
	}
	if err != nil || d == nil {
		return fmt.Sprintf("the sequence did not fail again (%v); it was\n%s", err, seen)
	}
	cause := d.cause()
	s = minimize(s, func(c sequence) bool {
		d, err := p.run(c)
		return err == nil && d != nil && d.cause() == cause
	})
	again, err := p.run(s)
	if again != nil && err == nil {
		d = again
	}
	return fmt.Sprintf("RESP%d, small limits %t, the shortest sequence:%#v%s", s.resp, s.small, s, d)
}

// survey continues after differences. It reports one short sequence for each cause, the
// most frequent causes first.
func survey(t *testing.T, p *pair, m *maker, s settings) {
	gen := m.sequences()
	type finding struct {
		count int
		text  string
	}
	found := map[string]*finding{}
	start := time.Now()
	for i := 0; !s.done(p.report.commands, start); i++ {
		seq := gen.Example(int(s.seed) + i)
		d, err := p.run(seq)
		if err != nil {
			t.Fatal(err)
		}
		if d == nil {
			continue
		}
		cause := d.cause()
		if found[cause] == nil {
			found[cause] = &finding{text: p.explain(seq, d)}
			t.Errorf("%s\n%s", cause, found[cause].text)
		}
		found[cause].count++
	}
	causes := make([]string, 0, len(found))
	for c := range found {
		causes = append(causes, c)
	}
	slices.SortFunc(causes, func(a, b string) int { return found[b].count - found[a].count })
	for _, c := range causes {
		t.Logf("%5d times: %s", found[c].count, c)
	}
}
