package config

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// withRow returns a Config whose table has one more directive.
func withRow(row directive) *Config {
	return newConfig(newTable(append(slices.Clone(directives), row), statements))
}

// The row below is all that a new directive needs.
func TestADirectiveIsOneRow(t *testing.T) {
	var field, seenByHook string
	c := withRow(directive{
		name: "fence", alias: "wall", parse: oneOf("stone", "wood", "wire"), def: "wood",
		set: func(_ *Config, v string) { field = v }, change: IdleChange,
		canSet: func(v string) error {
			if v == "wire" {
				return reason("no wire now")
			}
			return nil
		},
	})
	c.OnChange(IdleChange, func() error {
		seenByHook = field
		return nil
	})
	if c.Get("fence") != "wood" || field != "wood" {
		t.Errorf("at the start: %q, field %q", c.Get("fence"), field)
	}
	if err := c.Load("Wall", "wire"); err != nil || field != "wire" || seenByHook != "" {
		t.Errorf("loaded: field %q, hook saw %q, %v", field, seenByHook, err)
	}
	if err := c.Set([]Pair{{"FENCE", "Stone"}}, false); err != nil || seenByHook != "stone" {
		t.Errorf("set: hook saw %q, %v", seenByHook, err)
	}
	const failed = "CONFIG SET failed (possibly related to argument 'wall') - "
	for value, want := range map[string]string{
		"wire": failed + "no wire now",
		"ice":  failed + "argument(s) must be one of the following: stone, wood, wire",
	} {
		if err := c.Set([]Pair{{"WALL", value}}, false); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", value, err, want)
		}
	}
	same := func(pattern, name string) bool { return strings.Trim(pattern, "*") == name }
	want := []Pair{{"wall", "stone"}, {"Fence", "stone"}}
	if got := c.Match([]string{"*wall*", "Fence"}, same); !slices.Equal(got, want) {
		t.Errorf("CONFIG GET: %v, want %v", got, want)
	}
	if got, want := c.rewritten("wall wood\nsave 1 2", false), "fence stone\nsave \"\"\n"+signature+"\n"+latencyLine; got != want {
		t.Errorf("CONFIG REWRITE: %q, want %q", got, want)
	}
}

func TestARowRefusesWhatItNames(t *testing.T) {
	row := directive{name: "fence", parse: text, def: "wood", refuse: "no other fence"}
	c := withRow(row)
	err := c.Set([]Pair{{"fence", "x"}}, false)
	if err == nil || !strings.HasSuffix(err.Error(), "no other fence") {
		t.Errorf("set: %v", err)
	}
	if err := c.Load("fence", "x"); err != nil {
		t.Fatal(err)
	}
	if err := c.Check(); err == nil || err.Error() != "directive fence x: no other fence" {
		t.Errorf("loaded: %v", err)
	}
}

func TestEveryRowIsComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, d := range directives {
		for _, name := range []string{d.name, d.alias} {
			if name != "" && seen[name] || name != strings.ToLower(name) {
				t.Errorf("%s: a second row, or upper case", name)
			}
			seen[name] = true
		}
		if d.change != 0 && d.set == nil {
			t.Errorf("%s: hooks run, but no field follows", d.name)
		}
		if d.change != 0 && d.has(immutable) {
			t.Errorf("%s: hooks never run for it", d.name)
		}
	}
	byName := func(a, b directive) int { return strings.Compare(a.name, b.name) }
	if !slices.IsSortedFunc(directives, byName) {
		t.Error("the rows are not sorted by name")
	}
}

// fields returns the exported fields of a Config, and of its parts, as text.
func fields(c *Config) map[string]string {
	text := map[string]string{}
	for _, part := range []any{c, &c.TLS, &c.Cluster, &c.RDB, &c.AOF, &c.Eviction, &c.Lazyfree, &c.Replication} {
		v := reflect.ValueOf(part).Elem()
		for i := range v.NumField() {
			f := v.Type().Field(i)
			nested := v.Type() == reflect.TypeFor[Config]() &&
				slices.Contains([]string{"TLS", "Cluster", "RDB", "AOF", "Eviction", "Lazyfree", "Replication"}, f.Name)
			if f.IsExported() && !nested {
				text[v.Type().Name()+"."+f.Name] = fmt.Sprint(v.Field(i))
			}
		}
	}
	return text
}

func TestEverySetterChangesAFieldOfItsOwn(t *testing.T) {
	candidates := []string{"7", "2000000", "yes", "no", "debug", "/", "K", "777", "pubsub 1 2 3",
		"sentinel:1x3", "valkey-9.1", "hostname", "allchannels", "60 1", "save", "allkeys-lru", "systemd",
		"swapdb"}
	owner := map[string]string{}
	for _, d := range directives {
		if d.set == nil {
			continue
		}
		c := New()
		before := fields(c)
		for _, value := range candidates {
			if s := c.find(d.name); s.value == s.start() {
				_ = c.Load(d.name, value)
			}
		}
		changed := 0
		for name, text := range fields(c) {
			if text == before[name] {
				continue
			}
			changed++
			if owner[name] != "" {
				t.Errorf("%s and %s both change %s", owner[name], d.name, name)
			}
			owner[name] = d.name
		}
		if changed == 0 {
			t.Errorf("%s: no field follows %q", d.name, c.Get(d.name))
		}
	}
}

func TestEveryParserTakesItsDefaultUnchanged(t *testing.T) {
	c := New()
	for _, s := range c.settings {
		if s.has(noDefault) {
			continue
		}
		words := s.split(s.value)
		if len(words) == 0 {
			words = []string{""} // a file's way to give no words
		}
		value, err := s.check(c.input(&s, words))
		if err != nil || value != s.value {
			t.Errorf("%s %q: %q, %v", s.name, s.value, value, err)
		}
	}
}

// hooked returns a Config with hooks that note their names in ran. The hook fail
// returns an error.
func hooked(ran *[]string, fail string) *Config {
	c := New()
	for _, h := range []struct {
		name string
		of   Change
	}{
		{"idle 1", IdleChange}, {"clients 1", MaxClientsChange}, {"both", IdleChange | MaxClientsChange},
		{"idle 2", IdleChange}, {"level", LogLevelChange}, {"clients 2", MaxClientsChange},
	} {
		c.OnChange(h.of, func() error {
			*ran = append(*ran, h.name)
			if h.name == fail {
				return errors.New("no room")
			}
			return nil
		})
	}
	return c
}

func TestHooksRunOnceInTheOrderOfRegistration(t *testing.T) {
	for _, test := range []struct {
		pairs []Pair
		want  string
	}{
		{[]Pair{{"timeout", "5"}}, "idle 1, both, idle 2"},
		{[]Pair{{"timeout", "0"}}, ""}, // the old value
		{[]Pair{{"maxmemory", "1"}}, ""},
		{[]Pair{{"timeout", "5"}, {"maxclients", "9"}}, "idle 1, both, idle 2, clients 1, clients 2"},
		{[]Pair{{"maxclients", "9"}, {"timeout", "5"}}, "clients 1, both, clients 2, idle 1, idle 2"},
		{[]Pair{{"timeout", "0"}, {"maxclients", "9"}}, "clients 1, both, clients 2"},
	} {
		var ran []string
		if err := hooked(&ran, "").Set(test.pairs, false); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(ran, ", "); got != test.want {
			t.Errorf("%v: %s\nwant %s", test.pairs, got, test.want)
		}
	}
}

func TestAFailedHookUndoesTheWholeSet(t *testing.T) {
	pairs := []Pair{{"timeout", "5"}, {"MaxClients", "9"}, {"maxmemory", "1"}}
	for _, test := range []struct{ fail, argument, want string }{
		{"idle 1", "timeout", "idle 1"},
		{"idle 2", "timeout", "idle 1, both, idle 2, idle 1, both"},
		{"clients 2", "maxclients",
			"idle 1, both, idle 2, clients 1, clients 2, idle 1, both, idle 2, clients 1"},
	} {
		var ran []string
		c := hooked(&ran, test.fail)
		var last int64 = -1 // what a hook has seen at last
		c.OnChange(IdleChange, func() error {
			last = c.Timeout.Load()
			return nil
		})
		err := c.Set(pairs, false)
		want := "CONFIG SET failed (possibly related to argument '" + test.argument + "') - no room"
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", test.fail, err, want)
		}
		if got := strings.Join(ran, ", "); got != test.want {
			t.Errorf("%s: ran %s\nwant %s", test.fail, got, test.want)
		}
		if c.Timeout.Load() != 0 || c.MaxClients != 10000 || c.Get("maxmemory") != "0" {
			t.Errorf("%s: timeout %d, maxclients %d, maxmemory %s", test.fail,
				c.Timeout.Load(), c.MaxClients, c.Get("maxmemory"))
		}
		if last > 0 {
			t.Errorf("%s: a hook saw timeout %d last", test.fail, last)
		}
	}
}

func TestNamingTheSameFileAgainRunsTheHook(t *testing.T) {
	c, runs := New(), 0
	c.OnChange(TLSChange, func() error {
		runs++
		return nil
	})
	for range 2 {
		if err := c.Set([]Pair{{"tls-cert-file", "a"}, {"tls-key-file", "b"}}, false); err != nil {
			t.Fatal(err)
		}
	}
	if runs != 2 {
		t.Errorf("the hook ran %d times, want once for each CONFIG SET", runs)
	}
}

// Recorded from redis-server 7.0.15.
func TestTheFirstDirectiveThatConcernsTLSIsToBlame(t *testing.T) {
	for _, pair := range []Pair{
		{"tls-client-cert-file", "x"}, {"tls-client-key-file", "x"}, {"tls-client-key-file-pass", "x"},
		{"tls-session-caching", "no"},
	} {
		c := New()
		c.OnChange(TLSChange, func() error { return errors.New("no certificate") })
		err := c.Set([]Pair{{"timeout", "7"}, pair, {"tls-cluster", "yes"}}, false)
		if err == nil || !strings.Contains(err.Error(), "argument '"+pair.Name+"'") {
			t.Errorf("%s: %v", pair.Name, err)
		}
	}
}

func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		New()
	}
}

// The texts and values were recorded from redis-server 7.0.15.
func TestALineWithoutAValueIsTheDirectivesOwnMatter(t *testing.T) {
	const signals = "argument(s) must be one of the following: default, save, nosave, now, force"
	for line, want := range map[string]string{
		"save":                              "",
		"client-output-buffer-limit":        "normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60",
		"latency-tracking-info-percentiles": "",
		"bind":                              "",
		"shutdown-on-sigint":                signals,
		"shutdown-on-sigterm":               signals,
		"oom-score-adj-values":              errWords.Error(),
		"replicaof":                         errWords.Error(),
		"timeout":                           errWords.Error(),
		"use-exit-on-panic":                 errWords.Error(),
		"topology":                          errWords.Error(),
		`appendfilename ""`:                 "appendfilename can't be empty",
		`appenddirname ""`:                  "appenddirname can't be empty",
		`dbfilename ""`:                     "",
		`unixsocketperm ""`:                 "0",
		`unixsocketperm " +17"`:             "17",
		"unixsocketperm -1":                 "argument must be between 0 and 777 inclusive",
		"unixsocketperm 1777":               "argument must be between 0 and 777 inclusive",
		"unixsocketperm 8":                  "argument couldn't be parsed as an octal number",
		"unixsocketperm 7_7":                "argument couldn't be parsed as an octal number",
		"watchdog-period 100":               "200",
		"a.b":                               "Module config specified without value",
		"a.b c":                             noModules,
	} {
		name, _, _ := strings.Cut(line, " ")
		c, err := Parse([]string{"-"}, strings.NewReader(line+"\n"))
		got := ""
		if err != nil {
			got = err.Error()[strings.LastIndexByte(err.Error(), '\n')+1:]
		} else {
			got = c.Get(name)
		}
		if got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

func TestEachValueOfConfigGetCanBeSetButThoseThatRedisCallsImmutable(t *testing.T) {
	c := New()
	for _, p := range c.Match([]string{"*"}, func(string, string) bool { return true }) {
		s := c.find(p.Name)
		err := c.Set([]Pair{p}, true)
		if refused := err != nil; refused != (s.has(immutable) && !s.has(own)) {
			t.Errorf("%s %q: %v", p.Name, p.Value, err)
		}
		if s.has(hidden) {
			t.Errorf("%s is not hidden", p.Name)
		}
	}
	for _, value := range []string{"0", "-1", "4711x", "2147483648"} {
		if _, err := Parse([]string{"--exit-with-parent", value}, nil); err == nil ||
			!strings.Contains(err.Error(), "argument must be 'yes', 'no' or a process id") {
			t.Errorf("exit-with-parent %s: %v", value, err)
		}
	}
	if err := c.Set([]Pair{{"exit-with-parent", "yes"}}, true); err == nil {
		t.Error("exit-with-parent took another value")
	}
}
