package acl

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// catalog returns a small catalog.
func catalog() *Catalog {
	return NewCatalog([]Row{
		{Name: "get", Categories: []string{"read", "string", "fast"}},
		{Name: "set", Categories: []string{"write", "string", "slow"}},
		{Name: "del", Categories: []string{"keyspace", "write", "slow"}},
		{Name: "mget", Categories: []string{"read", "string", "fast"}},
		{Name: "publish", Categories: []string{"pubsub", "fast"}},
		{Name: "psubscribe", Categories: []string{"pubsub", "slow"}},
		{Name: "select", Categories: []string{"connection", "fast"}},
		{Name: "auth", Categories: []string{"connection", "fast"}, NoAuth: true},
		{Name: "config", Categories: []string{"slow"}, Subs: []Row{
			{Name: "config|get", Categories: []string{"admin", "slow", "dangerous"}},
			{Name: "config|set", Categories: []string{"admin", "slow", "dangerous"}},
			{Name: "config|help", Categories: []string{"slow"}},
		}},
	})
}

// user returns a user "u" with rules, separated by spaces.
func user(t testing.TB, rules string) *User {
	t.Helper()
	us := NewUsers(catalog())
	if _, err := us.Set("u", strings.Fields(rules)); err != nil {
		t.Fatalf("%s: %v", rules, err)
	}
	return us.Get("u")
}

func TestAUserIsDescribedInTheNormalForm(t *testing.T) {
	const none = "user u off resetchannels -@all"
	for rules, want := range map[string]string{
		"":                          none,
		"on nopass ~* &* +@all":     "user u on nopass ~* &* +@all",
		"+get +set":                 "user u off resetchannels -@all +@string -mget",
		"+@string +get|x":           "user u off resetchannels -@all +@string",
		"+@all -@slow":              "user u off resetchannels +@all -@slow",
		"+@all -@string":            "user u off resetchannels +@all -@string",
		"+@all -config +config|get": "user u off resetchannels +@all -config +config|get",
		"+config -config|set":       "user u off resetchannels -@all +config -config|set",
		"+select|1 +SELECT|A":       "user u off resetchannels -@all +select|1 +select|A",
		"+select|1 +select|1":       "user u off resetchannels -@all +select|1",
		"+select|1 -@connection":    none,
		"+select|1 +@all -@all":     none,
		"+get -get":                 none,
		"~a %R~b %W~c %W~b":         "user u off ~a ~b %W~c resetchannels -@all",
		"&a &b &a":                  "user u off resetchannels &a &b -@all",
		"(+get ~x) ( +set &* )":     "user u off resetchannels -@all (~x resetchannels -@all +get) (&* -@all +set)",
		"(+get) clearselectors":     none,
		"on >a reset":               "user u off sanitize-payload resetchannels -@all",
		"nopass sanitize-payload":   "user u off nopass sanitize-payload resetchannels -@all",
		"skip-sanitize-payload on":  "user u on skip-sanitize-payload resetchannels -@all",
		"+@all +@all -get +get":     "user u off resetchannels +@all",
		"allkeys allchannels resetkeys resetchannels allcommands nocommands": none,
	} {
		if got := user(t, rules).String(); got != want {
			t.Errorf("%q\n got %s\nwant %s", rules, got, want)
		}
	}
}

func TestAWrongRuleChangesNothing(t *testing.T) {
	us := NewUsers(catalog())
	for rules, want := range map[string]error{
		"on foo":            ErrSyntax,
		"on +nosuch":        ErrUnknown,
		"on +@nosuch":       ErrUnknown,
		"on +config|nosuch": ErrUnknown,
		"on +config|get|x":  ErrFirstArg,
		"on +get|":          ErrSyntax,
		"on +get|a\x00b":    ErrSyntax,
		"on ~* ~x":          ErrAllKeys,
		"on &* &x":          ErrAllChannels,
		"on #abc":           ErrHash,
		"on <x":             ErrNoPassword,
		"on (+get":          ErrUnmatched,
		"on (+nosuch)":      ErrUnknown,
		"on %~x":            ErrSyntax,
		"on +ſet":           ErrUnknown, // a letter that Unicode folds to s
	} {
		if _, err := us.Set("new", strings.Fields(rules)); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", rules, err, want)
		}
		if us.Get("new") != nil {
			t.Fatalf("%s: the user is made", rules)
		}
		if _, err := us.Set(DefaultName, strings.Fields("-@all resetkeys resetchannels "+rules)); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", rules, err, want)
		}
		if got := us.Default().String(); got != "user default on nopass ~* &* +@all" {
			t.Fatalf("%s: the user has changed: %s", rules, got)
		}
	}
}

// line returns a command line: keys are marked by k:, channels by c: and patterns by p:.
func line(c *Catalog, text string) *Line {
	l := &Line{}
	for i, word := range strings.Fields(text) {
		kind, rest, marked := strings.Cut(word, ":")
		if !marked {
			rest = word
		}
		switch {
		case !marked:
		case kind == "c" || kind == "p":
			l.Channels = append(l.Channels, Channel{At: i, Pattern: kind == "p"})
		default:
			l.Keys = append(l.Keys, Key{At: i, Reads: strings.Contains(kind, "r"), Writes: strings.Contains(kind, "w")})
		}
		l.Args = append(l.Args, []byte(rest))
	}
	l.Command = c.Lookup(strings.Fields(text)[0])
	if len(l.Command.subs) > 0 && len(l.Args) > 1 {
		l.Command = c.Lookup(l.Command.Name + "|" + string(l.Args[1]))
	}
	return l
}

func TestALineNeedsOneSelectorThatAllowsAllOfIt(t *testing.T) {
	for _, test := range []struct {
		rules, line string
		want        Reason
		at          int
	}{
		{"", "get k:x", NoCommand, 0},
		{"", "auth x", Allowed, 0},
		{"+get", "get k:x", NoKey, 1},
		{"+get ~x", "get r:x", Allowed, 0},
		{"+get %R~x", "get r:x", Allowed, 0},
		{"+get %W~x", "get r:x", NoKey, 1},
		{"+get %W~x", "get k:x", Allowed, 0},
		{"+set %W~x", "set rw:x", NoKey, 1},
		{"+set %R~x %W~x*", "set rw:x", NoKey, 1},
		{"+set %RW~x", "set rw:x", Allowed, 0},
		{"+mget ~a", "mget r:a r:b", NoKey, 2},
		{"+mget ~a ~[bc]", "mget r:a r:b r:c", Allowed, 0},
		{"+mget ~a (+mget ~b)", "mget r:a r:b", NoKey, 2},
		{"+mget ~b (+mget ~a ~b)", "mget r:a r:b", Allowed, 0},
		{"(+mget ~b) (+mget ~a)", "mget r:a r:b", NoKey, 2},
		{"+@all &a", "publish c:b", NoChannel, 1},
		{"+@all &a*", "publish c:ab", Allowed, 0},
		{"+@all &a*", "psubscribe p:ab", NoChannel, 1},
		{"+@all &a*", "psubscribe p:a*", Allowed, 0},
		{"+get (+publish)", "publish c:b", NoChannel, 1},
		{"+config|get", "config get", Allowed, 0},
		{"+config|get", "config set", NoCommand, 0},
		{"+config -config|get", "config get", NoCommand, 0},
		{"+select|1", "select 1", Allowed, 0},
		{"+select|1", "select 2", NoCommand, 0},
		{"+select|a", "select A", Allowed, 0},
		{"+select|1", "select", NoCommand, 0},
	} {
		u := user(t, test.rules)
		reason, at := u.Check(line(u.catalog, test.line))
		if reason != test.want || at != test.at {
			t.Errorf("%s: %s: %d at %d, want %d at %d", test.rules, test.line, reason, at, test.want, test.at)
		}
	}
}

func TestOnlyAUserWithAllRightsIsUnrestricted(t *testing.T) {
	for rules, want := range map[string]bool{
		"~* &* +@all": false, "": true, "~* &*": true, "&* +@all": true, "~* +@all": true,
		"~* &* +@all -get": true, "(~* &* +@all)": false, "~* &* +@all -get +get": false,
		"%RW~* &* +@all": true, "~* &* +@fast +@slow": false,
	} {
		if got := user(t, rules).Restricted(); got != want {
			t.Errorf("%s: %v", rules, got)
		}
	}
	if (*User)(nil).Restricted() {
		t.Error("no user: restricted")
	}
}

func TestSortNeedsToReadEveryKey(t *testing.T) {
	for rules, want := range map[string]bool{
		"~* +get": true, "%R~* +get": true, "~x +get": false, "%W~* ~x +get": false,
		"%R~* (~x +get)": false, "~x +get (~* +get)": true,
	} {
		u := user(t, rules)
		if got := u.CheckReadingAnyKey(line(u.catalog, "get r:x")); got != want {
			t.Errorf("%s: %v", rules, got)
		}
	}
}

func TestAUserLogsInWithAnyPassword(t *testing.T) {
	us := NewUsers(catalog())
	set := func(rules string) {
		t.Helper()
		if _, err := us.Set("u", strings.Fields(rules)); err != nil {
			t.Fatal(err)
		}
	}
	check := func(password string, want bool) {
		t.Helper()
		if got := us.Authenticate("u", []byte(password)) != nil; got != want {
			t.Errorf("%s with %q: %v", us.Get("u"), password, got)
		}
	}
	set(">a >b")
	check("a", false)
	set("on")
	check("a", true)
	check("b", true)
	check("", false)
	set("<a")
	check("a", false)
	set("nopass")
	check("anything", true)
	set("off")
	check("anything", false)
	if us.Authenticate("nosuch", nil) != nil {
		t.Error("an unknown user logs in")
	}
}

func TestTheDefaultUserDecidesWhetherConnectionsMustLogIn(t *testing.T) {
	us := NewUsers(catalog())
	for _, step := range []struct {
		do   func()
		want bool
	}{
		{func() {}, false},
		{func() { us.SetDefaultPassword("x") }, true},
		{func() { us.SetDefaultPassword("") }, false},
		{func() { us.Set(DefaultName, []string{"off"}) }, true},
		{func() { us.Set(DefaultName, []string{"on", "resetpass"}) }, true},
		{func() { us.Load("f", "user a on") }, false},
		{func() { us.Load("f", "user default on >x") }, true},
		{func() { us.Define(DefaultName, []string{"on", "nopass"}) }, false},
		{func() { us.Set("other", []string{"off"}) }, false},
	} {
		if step.do(); us.AuthRequired() != step.want {
			t.Errorf("%s: %v", us.Default(), us.AuthRequired())
		}
	}
}

func TestLostChannels(t *testing.T) {
	us := NewUsers(catalog())
	for _, test := range []struct {
		before, after, channel string
		lost, allowed          bool
	}{
		{"&*", "&a", "a", true, true},
		{"&*", "&a", "b", true, false},
		{"&a &b", "resetchannels &b &a &c", "", false, false},
		{"&a", "(&a)", "", false, false},
		{"&a (&b)", "clearselectors &c", "b", true, false},
		{"&a", "resetchannels &*", "", false, false},
		{"&a", "resetchannels &?", "a", true, true},
	} {
		us.Set("u", strings.Fields("reset "+test.before))
		rules := strings.Fields(test.after)
		if test.before == "&*" {
			rules = append([]string{"resetchannels"}, rules...)
		}
		lost, err := us.Set("u", rules)
		if err != nil || (lost != nil) != test.lost || lost != nil && lost.Allow(test.channel, false) != test.allowed {
			t.Errorf("%s, %s: %v, %v", test.before, test.after, lost, err)
		}
	}
}

func TestAFileIsLoadedWholeOrNotAtAll(t *testing.T) {
	us := NewUsers(catalog())
	us.Set("old", []string{"on"})
	before := us.File()
	for text, want := range map[string]string{
		"user a on +nosuch +@nosuch foo bar\nuser p on foo\n\nuser q\nuser q\nusr\n": "f:1: Error in applying operation '+nosuch': Unknown command or category name in ACL. " +
			"f:1: Error in applying operation '+@nosuch': Unknown command or category name in ACL. f:1: Syntax error. " +
			"f:2: Syntax error. WARNING: Duplicate user 'q' found on line 5. " +
			"f:6 should start with user keyword followed by the username. ",
		"user a ~*\nuser b ~x\n user g +config|get|x \r\n# comment": "f:3: Allowing first-arg of a subcommand is not supported. " +
			"f:4 should start with user keyword followed by the username. ",
		"user a (+get ~x": "f:1: Unmatched parenthesis in selector definition.",
		"user a\tb on":    "'f:1: username 'a\tb' contains invalid characters. ",
	} {
		want += "WARNING: ACL errors detected, no change to the previously active ACL rules was performed"
		if _, err := us.Load("f", text); err == nil || err.Error() != want {
			t.Errorf("%q\n got %v\nwant %s", text, err, want)
		}
		if us.File() != before {
			t.Fatalf("%q: the users have changed", text)
		}
	}
	text := "user a on ~x resetchannels &c -@all +get (%R~y &* +@all)\r\n\n  user b   off\n"
	gone, err := us.Load("f", text)
	if err != nil || len(gone) != 1 || gone[0].Name != "old" {
		t.Fatalf("%v, %v", gone, err)
	}
	want := "user a on ~x resetchannels &c -@all +get (%R~y &* +@all)\nuser b off resetchannels -@all\n" +
		"user default on nopass ~* &* +@all\n"
	if us.File() != want {
		t.Errorf("%q, want %q", us.File(), want)
	}
	def := us.Default()
	if gone, err := us.Load("f", us.File()); err != nil || len(gone) != 2 || us.File() != want || us.Default() != def {
		t.Errorf("%v, %v, %q", gone, err, us.File())
	}
}

func TestEntriesAreMergedWithRecentOnes(t *testing.T) {
	var l Log
	add := func(object string, at int64) {
		l.Add(Entry{Reason: NoKey, Context: TopLevel, Object: object, User: "u", At: at}, 12)
	}
	for at, object := range []string{"a", "b", "a", "c"} {
		add(object, int64(at))
	}
	shape := func() (got []string) {
		for _, e := range l.Entries(100) {
			got = append(got, e.Object+string(rune('0'+e.Count)))
		}
		return got
	}
	if got := shape(); !slices.Equal(got, []string{"c1", "a2", "b1"}) {
		t.Error(got)
	}
	add("a", mergeWithin+3) // the last one is a minute and 1 ms old
	add("c", mergeWithin+3)
	if got := shape(); !slices.Equal(got, []string{"c2", "a1", "a2", "b1"}) {
		t.Error(got)
	}
	for i := range 12 {
		add(string(rune('m'+i)), mergeWithin)
	}
	add("c", mergeWithin+3) // beyond the ten newest
	if got := shape(); len(got) != 12 || got[0] != "c1" {
		t.Error(got)
	}
	if n := len(l.Entries(-1)) + len(l.Entries(0)); n != 0 {
		t.Errorf("%d entries", n)
	}
	l.Reset()
	l.Add(Entry{}, 0)
	if len(l.Entries(10)) != 0 {
		t.Error("a log of length 0 keeps entries")
	}
}
