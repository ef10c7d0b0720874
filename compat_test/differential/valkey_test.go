package differential

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/lockredis/lockredis/internal/redistest"
)

// TestEveryGeneratedCommandIsAnsweredAsByValkey compares a lockredis that emulates Valkey with
// Valkey. A long run has a quarter of the commands.
func TestEveryGeneratedCommandIsAnsweredAsByValkey(t *testing.T) {
	s := readSettings(t)
	s.commands, s.budget = s.commands/4, s.budget/2
	m := newMakerOf(valkeyGrammar(), valkeyBorders(), s.only)
	if len(m.groups) == 0 {
		t.Skip("LOCKREDIS_DIFF_ONLY has no command that is compared with Valkey")
	}
	p := newPair(startValkeys(t))
	p.valkey, p.oracle.name, p.report = true, "Valkey", newCoverage(valkeyGrammar())
	t.Cleanup(p.close)
	m.valkey = true
	p.check(t, m, s)
	t.Logf("%d commands in %d sequences, %d invalidations, %d not compared in time",
		p.report.commands, p.runs, p.report.pushes, p.report.slow)
	p.report.check(t, s)
}

// startValkeys starts Valkey and a lockredis that emulates it. Without Valkey the test skips.
func startValkeys(t *testing.T) (oracle, target string) {
	t.Helper()
	// Sets have the encodings of Redis 7.0.
	args := append([]string{"--set-max-listpack-entries", "0"}, directives...)
	start := func() string {
		return redistest.Run(t, redistest.Command{Program: redistest.FindValkey(t), Args: args}).Addr
	}
	oracle = start()
	switch target := os.Getenv("LOCKREDIS_DIFF_TARGET"); {
	case target == "redis":
		return oracle, start()
	case target == "inprocess" || target == "" && redistest.RaceDetector:
		return oracle, startInProcess(t, "emulate", "valkey-9.1")
	case target != "":
		t.Skip("a running server need not emulate Valkey")
	}
	return oracle, runTarget(t, append([]string{"--emulate", "valkey-9.1"}, directives...)...)
}

// valkeyGroups are the groups of Redis's grammar that are compared with Valkey.
var valkeyGroups = strings.Fields("string hash list set bitmap hyperloglog generic server connection functions")

// valkeyGrammar is the grammar for a comparison with Valkey: the groups of Redis's grammar
// without what docs/valkey.md excludes, and the commands that only Valkey has.
func valkeyGrammar() []group {
	more := map[string][]command{"string": valkeyStringCommands(), "hash": valkeyHashCommands(),
		"list": valkeyListCommands(), "connection": valkeyConnectionCommands()}
	var all []group
	for _, g := range grammar() {
		if !slices.Contains(valkeyGroups, g.name) {
			continue
		}
		kept := more[g.name]
		for _, c := range g.commands {
			if !slices.Contains(notAsInValkey, c.name) &&
				!slices.ContainsFunc(kept, func(k command) bool { return k.name == c.name }) {
				kept = append(kept, c)
			}
		}
		g.commands = kept
		if g.name == "string" || g.name == "hash" || g.name == "connection" {
			g.weight *= 3
		}
		all = append(all, g)
	}
	return all
}

func valkeyStringCommands() []command {
	s := key("s")
	// Few values, so that one is often the value that the key has.
	few := word([]string{"a", "foo", "1"})
	written := oneOf(few, few, value)
	ahead := oneOf(seq(lit("EX"), ttlS), seq(lit("PX"), ttlMS), lit("KEEPTTL"))
	deadline := oneOf(ahead, seq(lit("EXAT"), atS), seq(lit("PXAT"), atMS))
	exists := opt(30, oneOf(lit("NX"), lit("XX")))
	condition := oneOf(lit("NX"), lit("XX"), seq(lit("IFEQ"), written), seq(lit("IFEQ"), written))
	return []command{
		{"SET", 14, "NX XX IFEQ GET EX PX EXAT PXAT KEEPTTL", seq(s, written, anyOrder(
			opt(50, condition), opt(20, lit("GET")), opt(40, deadline), opt(3, lit("IFEQ", "a"))))},
		{"DELIFEQ", 5, "", seq(s, written)},
		// A deadline that may be in the past is for one key: several end in any order.
		{"MSETEX", 6, "NX XX EX PX EXAT PXAT KEEPTTL", oneOf(
			seq(counted(1, 1, s, value), anyOrder(exists, opt(60, deadline), opt(3, lit("GET")))),
			seq(counted(2, 3, s, value), anyOrder(exists, opt(60, ahead), opt(3, lit("GET")))))},
	}
}

// valkeyListCommands has no LSET of the lowest index, which Valkey takes for the first one.
func valkeyListCommands() []command {
	return []command{{"LSET", 2, "", seq(key("l"), word([]string{"0", "-1", "1", "5", "-10", "x"}), value)}}
}

func valkeyHashCommands() []command {
	h := key("h")
	fields := func(parts ...part) part {
		return seq(oneOf(lit("FIELDS"), lit("FIELDS"), lit("FIELDS"), opt(95, lit("FIELDS"))), counted(1, 4, parts...))
	}
	named := fields(member)
	one := oneOf(lit("NX"), lit("XX"), lit("GT"), lit("LT"))
	condition := opt(50, oneOf(one, one, one, one, one, seq(one, one)))
	deadline := oneOf(seq(lit("EX"), ttlS), seq(lit("PX"), ttlMS), seq(lit("EXAT"), atS), seq(lit("PXAT"), atMS))
	return []command{
		{"HEXPIRE", 5, "NX XX GT LT", seq(h, ttlS, condition, named)},
		{"HPEXPIRE", 5, "NX XX GT LT", seq(h, ttlMS, condition, named)},
		{"HEXPIREAT", 4, "NX XX GT LT", seq(h, atS, condition, named)},
		{"HPEXPIREAT", 4, "NX XX GT LT", seq(h, atMS, condition, named)},
		{"HTTL", 2, "", seq(h, named)},
		{"HPTTL", 2, "", seq(h, named)},
		{"HEXPIRETIME", 2, "", seq(h, named)},
		{"HPEXPIRETIME", 2, "", seq(h, named)},
		{"HPERSIST", 3, "", seq(h, named)},
		{"HGETDEL", 3, "", seq(h, named)},
		{"HGETEX", 7, "EX PX EXAT PXAT PERSIST", seq(h, opt(80, oneOf(deadline, deadline, deadline, lit("PERSIST"))),
			opt(4, oneOf(lit("PERSIST"), lit("KEEPTTL"), deadline)), named)},
		{"HSETEX", 10, "NX XX FNX FXX EX PX EXAT PXAT KEEPTTL", seq(h, anyOrder(
			opt(25, oneOf(lit("NX"), lit("XX"))), opt(25, oneOf(lit("FNX"), lit("FXX"))),
			opt(70, oneOf(deadline, deadline, deadline, lit("KEEPTTL"))),
			opt(4, oneOf(lit("NX"), lit("FXX"), lit("PERSIST"), deadline))), fields(member, value))},
	}
}

func valkeyConnectionCommands() []command {
	name := word([]string{"jedis", "5.2.0", "a-b_c", "", "a b", "\n", "lettuce"})
	forReplicas := func(g *gen) []string {
		if g.blocks {
			return mostly([]string{"1", "2"}, []string{"1"}, []string{"-1", "x", ""})(g)
		}
		return mostly([]string{"0", "1", "100"}, []string{"0"}, []string{"-1", "x", ""})(g)
	}
	return []command{
		{"CLIENT SETINFO", 2, "LIB-NAME LIB-VER", seq(mostly([]string{"LIB-NAME", "LIB-VER", "lib-name", "lib-ver"},
			[]string{"lib-name"}, []string{"lib", ""}), name)},
		{"CLIENT CAPA", 1, "", many(1, 2, word([]string{"redirect", "REDIRECT", "nosuch", ""}))},
		{"CLIENT NO-TOUCH", 3, "ON OFF", word([]string{"ON", "OFF", "ON", "OFF", "on", "maybe"})},
		{"CLIENT IMPORT-SOURCE", 1, "", word([]string{"ON", "OFF", "OFF", "maybe"})},
		{"CLIENT INFO", 2, "", opt(8, lit("extra"))},
		{"SCRIPT SHOW", 3, "", word(knownShas())},
		{"WAITAOF", 2, "", seq(mostly([]string{"0"}, []string{"0", "1"}, []string{"2", "-1", "x", ""}),
			mostly([]string{"0", "1"}, []string{"0"}, []string{"-1", "x", ""}), forReplicas)},
	}
}

// shortenWaitAOF keeps a spoiled WAITAOF from waiting for ever.
func shortenWaitAOF(args []string) []string {
	if len(args) == 4 && !slices.Contains([]string{"1", "2", "-1", "x", ""}, args[3]) {
		args[3] = "1"
	}
	return args
}

// check reports commands and options of a long run that occurred too rarely.
func (c *coverage) check(t *testing.T, s settings) {
	t.Helper()
	if *printCoverage {
		fmt.Print(c.table())
	}
	if short := c.short(); s.commands > 0 && s.only == "" && len(short) > 0 {
		t.Errorf("not covered (want %d successes and %d failures):\n%s",
			share(wantSuccesses, c.commands), share(wantFailures, c.commands), strings.Join(short, "\n"))
	}
}
