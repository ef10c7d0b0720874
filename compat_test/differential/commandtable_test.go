package differential

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lockredis/lockredis/compat_test/wire"
	"github.com/lockredis/lockredis/internal/redistest"
)

// Indexes of the ten fields of a command in the reply to COMMAND.
const (
	fieldName = iota
	fieldArity
	fieldFlags
	fieldFirstKey
	fieldLastKey
	fieldStep
	fieldCategories
	fieldTips
	fieldKeySpecs
	fieldSubcommands
	fieldCount
)

var fieldNames = [fieldCount]string{"name", "arity", "flags", "first key", "last key", "step",
	"ACL categories", "tips", "key specifications", "subcommands"}

func TestCommandTableEqualsThatOfRedis(t *testing.T) {
	oracle, target := redistest.Dial(t, startOracle(t)), redistest.Dial(t, startTarget(t))
	for _, resp := range []string{"2", "3"} {
		t.Run("RESP"+resp, func(t *testing.T) {
			mustDo(t, oracle, "HELLO", resp)
			mustDo(t, target, "HELLO", resp)
			compareTables(t, oracle, target)
		})
	}
}

func compareTables(t *testing.T, oracle, target *wire.Conn) {
	listed := mustDo(t, target, "COMMAND")
	if n := len(listed.Elems); n < 100 {
		t.Fatalf("COMMAND lists %d commands", n)
	}
	for _, mine := range listed.Elems {
		name := string(mine.Elems[fieldName].Str)
		reply := mustDo(t, oracle, "COMMAND", "INFO", name)
		if len(reply.Elems) != 1 || len(reply.Elems[0].Elems) == 0 {
			t.Errorf("%s: redis-server does not know it", name)
			continue
		}
		for _, d := range compareCommands(reply.Elems[0], mine) {
			t.Error(d)
		}
		again := mustDo(t, target, "COMMAND", "INFO", name)
		if len(again.Elems) != 1 || unordered(again.Elems[0]) != unordered(mine) {
			t.Errorf("%s: COMMAND INFO differs from COMMAND", name)
		}
	}
}

// notGenerated are the commands that sequences leave out. Their replies are figures or
// prose, or they end, mute or subscribe the connection. The vectors hold them. ACL has a test of its own.
var notGenerated = strings.Fields(`
	bgrewriteaof bgsave sync psync replconf failover module|load module|loadex module|unload migrate pfdebug pfselftest save shutdown info lolwut memory debug monitor quit
	psubscribe punsubscribe subscribe unsubscribe ssubscribe sunsubscribe
	client|info client|kill client|list client|pause client|reply
	command|count command|docs command|getkeysandflags command|info command|list config|rewrite script|debug slowlog|len latency|doctor latency|histogram asking readonly readwrite cluster acl`)

func TestEveryCommandIsGeneratedOrLeftOutOnPurpose(t *testing.T) {
	target := redistest.Dial(t, startInProcess(t))
	known := map[string]bool{"eval": true, "eval_ro": true, "multi": true}
	for _, g := range grammar() {
		for _, c := range g.commands {
			known[strings.ToLower(strings.Join(c.words(), "|"))] = true
		}
	}
	var check func(list []wire.Value)
	check = func(list []wire.Value) {
		for _, c := range list {
			name := string(c.Elems[fieldName].Str)
			if subs := c.Elems[fieldSubcommands].Elems; len(subs) > 0 &&
				!slices.Contains(notGenerated, name) {
				check(subs)
				continue
			}
			if !known[name] && !slices.Contains(notGenerated, name) && !strings.HasSuffix(name, "|help") {
				t.Errorf("%s is neither in the grammar nor left out on purpose", name)
			}
		}
	}
	check(mustDo(t, target, "COMMAND").Elems)
}

// compareCommands compares one command field by field, and for a container also the
// subcommands that both servers have.
func compareCommands(oracle, target wire.Value) []string {
	name := string(oracle.Elems[fieldName].Str)
	if len(oracle.Elems) != fieldCount || len(target.Elems) != fieldCount {
		return []string{fmt.Sprintf("%s: %d fields and not %d", name, len(target.Elems),
			len(oracle.Elems))}
	}
	var found []string
	for i := range fieldSubcommands {
		a, b := unordered(oracle.Elems[i]), unordered(target.Elems[i])
		if a != b {
			found = append(found, fmt.Sprintf("%s: %s\n  redis-server: %s\n  lockredis:    %s", name,
				fieldNames[i], a, b))
		}
	}
	known := map[string]wire.Value{}
	for _, sub := range oracle.Elems[fieldSubcommands].Elems {
		known[string(sub.Elems[fieldName].Str)] = sub
	}
	for _, sub := range target.Elems[fieldSubcommands].Elems {
		subName := string(sub.Elems[fieldName].Str)
		theirs, ok := known[subName]
		if !ok {
			found = append(found, subName+": redis-server does not know it")
			continue
		}
		found = append(found, compareCommands(theirs, sub)...)
	}
	return found
}

// unordered renders a value with the elements of its lists and sets sorted. The order of
// flags, categories, tips and subcommands means nothing.
func unordered(v wire.Value) string {
	if !v.IsAggregate() {
		return v.String()
	}
	parts := make([]string, 0, len(v.Elems))
	step := 1
	if v.Kind == wire.Map {
		step = 2
	}
	for i := 0; i+step <= len(v.Elems); i += step {
		part := unordered(v.Elems[i])
		if step == 2 {
			part += " => " + unordered(v.Elems[i+1])
		}
		parts = append(parts, part)
	}
	slices.Sort(parts)
	return string(rune(v.Kind)) + "[" + strings.Join(parts, " ") + "]"
}

func mustDo(t *testing.T, c *wire.Conn, args ...string) wire.Value {
	t.Helper()
	v, err := c.Do(args...)
	if err != nil {
		t.Fatal(err)
	}
	if v.IsError() {
		t.Fatalf("%s: %s", cliLine(args), v)
	}
	return v
}
