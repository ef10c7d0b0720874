package differential

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lockredis/lockredis/compat_test/wire"
	"github.com/lockredis/lockredis/internal/redistest"
)

// aclSteps is how many users the test of ACL makes. Each is tried with a few commands.
const aclSteps = 500

// aclGen generates rules about users, and command lines for DRYRUN.
type aclGen struct {
	*rand.Rand
	commands   []string // full names: "get", "config|get"
	categories []string
}

func (g *aclGen) pick(words ...string) string { return words[g.IntN(len(words))] }

func (g *aclGen) pattern() string {
	return g.pick("", "*", "a", "b", "a*", "?", "[ab]", "key:*", "\\a", "a b", "[^a]*", "x\\*")
}

// rule returns one rule. It is wrong now and then.
func (g *aclGen) rule() string {
	sign := g.pick("+", "-")
	switch g.IntN(24) {
	case 0:
		return g.pick("on", "OFF", "nopass", "resetpass", "reset", "clearselectors",
			"sanitize-payload", "skip-sanitize-payload", ">x", "<x", ">y", "foo", "")
	case 1, 2:
		return sign + "@all"
	case 3, 4, 5, 6, 7:
		return sign + "@" + g.pick(g.categories...)
	case 8:
		return "+" + g.pick(g.commands...) + "|" + g.pick("a", "B", "b", "get", "")
	case 9:
		return g.pick("allkeys", "resetkeys", "~*", "allchannels", "resetchannels", "&*", "allcommands", "nocommands")
	case 10, 11, 12:
		return g.pick("~", "%R~", "%W~", "%RW~", "%wr~", "%~", "%R", "~") + g.pattern()
	case 13, 14:
		return "&" + g.pattern()
	case 15, 16:
		inner := []string{}
		for range g.IntN(5) {
			inner = append(inner, strings.Trim(g.rule(), "()"))
		}
		return g.pick("(", "(", "( ") + strings.Join(inner, " ") + g.pick(")", ")", " )", "")
	}
	name := g.pick(g.commands...)
	if g.IntN(4) == 0 {
		name = strings.ToUpper(name)
	}
	return sign + name
}

// line returns a command line with the words after its name that a user may need rights for.
func (g *aclGen) line() []string {
	words := strings.Split(g.pick(g.commands...), "|")
	for range 1 + g.IntN(5) {
		words = append(words, g.pick("a", "b", "ab", "key:1", "", "1", "2", "0", "-1", "1x", "STORE", "GET",
			"BY", "w_*", "KEYS", "STREAMS", "LIMIT", "NX", "x"))
	}
	return words
}

// rulesInOrder sorts the rules about single commands, because Redis has them in the order of a hash
// table.
func rulesInOrder(text string) string {
	words := strings.Fields(text)
	isSingle := func(w string) bool { return strings.ContainsAny(w[:1], "+-") && !strings.Contains(w, "@") }
	for from := 0; from < len(words); from++ {
		to := from
		for to < len(words) && isSingle(words[to]) {
			to++
		}
		slices.Sort(words[from:to])
		from = max(from, to)
	}
	return strings.Join(words, " ")
}

// flatten returns a reply as a text that is the same for both servers.
func flatten(v wire.Value) string {
	if len(v.Elems) == 0 {
		return rulesInOrder(strings.ReplaceAll(strings.ReplaceAll(string(v.Raw), "\r\n", " "), ")", " )"))
	}
	var all []string
	for _, e := range v.Elems {
		all = append(all, flatten(e))
	}
	return "[" + strings.Join(all, ", ") + "]"
}

func TestUsersHaveTheSameRightsAsInRedis(t *testing.T) {
	s := readSettings(t)
	t.Logf("LOCKREDIS_DIFF_SEED=%d", s.seed)
	oracle, target := redistest.Dial(t, startOracle(t)), redistest.Dial(t, startTarget(t))
	g := &aclGen{Rand: rand.New(rand.NewPCG(s.seed, 1))}
	for _, c := range mustDo(t, target, "ACL", "CAT").Elems {
		g.categories = append(g.categories, string(c.Str))
		for _, name := range mustDo(t, target, "ACL", "CAT", string(c.Str)).Elems {
			g.commands = append(g.commands, string(name.Str))
		}
	}
	slices.Sort(g.commands)
	g.commands = slices.Compact(g.commands)
	var history [][]string
	check := func(line ...string) {
		t.Helper()
		history = append(history, line)
		want, err := oracle.Do(line...)
		if err != nil {
			t.Fatal(err)
		}
		got, err := target.Do(line...)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := flatten(want), flatten(got); a != b {
			if strings.Contains(b, "' not found") { // a command that lockredis does not have
				return
			}
			if len(line) == 5 && line[3] == "pfmerge" { // see docs/differences.md
				return
			}
			for _, l := range history[max(0, len(history)-12):] {
				t.Logf("%q", l)
			}
			t.Fatalf("\nredis-server: %s\nlockredis:    %s", a, b)
		}
	}
	for _, c := range g.categories {
		want, got := elements(mustDo(t, oracle, "ACL", "CAT", c)), elements(mustDo(t, target, "ACL", "CAT", c))
		if !slices.Equal(want, got) {
			t.Errorf("category %s\nredis-server: %s\nlockredis:    %s", c, want, got)
		}
	}
	for range aclSteps {
		name := g.pick("u1", "u2", "u3")
		line := []string{"ACL", "SETUSER", name}
		if g.IntN(3) == 0 { // only keys and channels decide
			line = append(line, "reset", "+@all", "~a*", g.pick("%R~b", "%W~b", "~b", "&a*", "(~b +@all)"))
		}
		for range g.IntN(6) {
			line = append(line, g.rule())
		}
		check(line...)
		check("ACL", "GETUSER", name)
		for range 6 {
			check(append([]string{"ACL", "DRYRUN", name}, g.line()...)...)
		}
		switch g.IntN(20) {
		case 0:
			check("ACL", "DELUSER", name, g.pick("u1", "u2", "nosuch"))
		case 1:
			check("ACL", "LIST")
			check("ACL", "USERS")
		}
	}
}

// elements returns the sorted texts of an array.
func elements(v wire.Value) []string {
	var all []string
	for _, e := range v.Elems {
		all = append(all, string(e.Str))
	}
	slices.Sort(all)
	return all
}
