package differential

import (
	"slices"
	"strings"
	"testing"

	"github.com/lockredis/lockredis/internal/redistest"
)

func TestEveryCommandOfEmulateIsComparedWithValkey(t *testing.T) {
	names := func(directives ...string) []string {
		list := mustDo(t, redistest.Dial(t, startInProcess(t, directives...)), "COMMAND", "LIST")
		all := elements(list)
		for _, c := range mustDo(t, redistest.Dial(t, startInProcess(t, directives...)), "COMMAND").Elems {
			for _, sub := range c.Elems[fieldSubcommands].Elems {
				all = append(all, string(sub.Elems[fieldName].Str))
			}
		}
		return all
	}
	known := map[string]bool{}
	for _, g := range valkeyGrammar() {
		for _, c := range g.commands {
			known[strings.ToLower(strings.Join(c.words(), "|"))] = true
		}
	}
	redis, valkey := names(), names("emulate", "valkey-9.1")
	if len(valkey) <= len(redis) {
		t.Fatalf("%d commands with emulate, %d without", len(valkey), len(redis))
	}
	for _, name := range valkey {
		if !slices.Contains(redis, name) && !known[name] {
			t.Errorf("%s is not in the grammar for Valkey", name)
		}
	}
}

func TestExceptionForValkeyAllowsOnlyTheDifferenceThatItNames(t *testing.T) {
	const sha = "93b21496134e25d14acc217e82ee755627640c04"
	bulk := func(s string) string { return "$" + decimal(len(s)) + "\r\n" + s + "\r\n" }
	for _, c := range []struct {
		name           string
		args           []string
		oracle, target string
		want           bool
	}{
		{"a field's deadline 20 ms off", []string{"HPEXPIRETIME"}, "*2\r\n:1000\r\n:-1\r\n", "*2\r\n:1020\r\n:-1\r\n", true},
		{"a field's deadline 21 ms off", []string{"HPEXPIRETIME"}, "*2\r\n:1000\r\n:-1\r\n", "*2\r\n:1021\r\n:-1\r\n", false},
		{"a deadline and no field", []string{"HPTTL"}, "*1\r\n:5\r\n", "*1\r\n:-2\r\n", false},
		{"one field less", []string{"HTTL"}, "*2\r\n:1\r\n:1\r\n", "*1\r\n:1\r\n", false},
		{"the encoding of a short list", []string{"OBJECT", "ENCODING", "l"}, bulk("listpack"), bulk("quicklist"), true},
		{"a hash that stays compact", []string{"OBJECT", "ENCODING", "h"}, bulk("hashtable"), bulk("listpack"), true},
		{"a hash that is a table too early", []string{"OBJECT", "ENCODING", "h"}, bulk("listpack"), bulk("hashtable"), false},
		{"the name of a script", []string{"EVAL", "x", "0"}, "-ERR x script: on @user_script:1.\r\n",
			"-ERR x script: " + sha + ", on @user_script:1.\r\n", true},
		{"the line of a script", []string{"EVAL", "x", "0"}, "-ERR x script: on @user_script:1.\r\n",
			"-ERR x script: " + sha + ", on @user_script:2.\r\n", false},
		{"the words of an error", []string{"EVAL", "x", "0"}, "-ERR Unknown command called from script\r\n",
			"-ERR Unknown Redis command called from script\r\n", true},
		{"another error", []string{"HEXPIRE", "h"}, "-ERR a\r\n", "-ERR b\r\n", false},
		{"a new error", []string{"SCAN", "0"}, "-ERR unknown type name 'x'\r\n", ":0\r\n", true},
		{"a new error of another command", []string{"HSCAN", "0"}, "-ERR unknown type name 'x'\r\n", ":0\r\n", false},
		{"a payload of a stream", []string{"DUMP", "x"}, bulk("\x15abc"), bulk("\x13xyz"), true},
		{"a payload of another type", []string{"DUMP", "x"}, bulk("\x15abc"), bulk("\x16xyz"), false},
		{"a client's library", []string{"CLIENT", "INFO"}, bulk("name=a db=0 resp=2 lib-name=x lib-ver="),
			bulk("name=a db=0 resp=2 lib-name=y lib-ver="), false},
		{"a client's buffers", []string{"CLIENT", "INFO"}, bulk("name=a db=0 qbuf=0 resp=2 lib-name=x lib-ver="),
			bulk("name=a db=0 qbuf=9 resp=2 lib-name=x lib-ver="), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := emission{args: c.args, inv: &invocation{args: c.args}, valkey: true}
			pair := comparison{args: c.args, oracle: parse(t, c.oracle), target: parse(t, c.target)}
			if got := e.same(pair); got != c.want {
				t.Errorf("the same: %t, want %t", got, c.want)
			}
			if e.valkey = false; c.want && e.same(pair) {
				t.Error("masked for Redis, too")
			}
		})
	}
}

// A generated sequence must never wait for ever.
func TestNoGeneratedWaitForReplicasIsEndless(t *testing.T) {
	for _, args := range [][]string{{"WAITAOF", "0", "1", "0"}, {"WAITAOF", "0", "1", "100"}, {"WAITAOF", "0", "1", "0.001"}} {
		if got := shortenWait(args); got[3] != "1" {
			t.Errorf("%v is sent as %v", args, got)
		}
	}
}
