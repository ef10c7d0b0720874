package config

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lockredis/lockredis/internal/keyevent"
)

// The values and texts were recorded from redis-server 7.0.15.
func TestSetAnswersAsRedis(t *testing.T) {
	const failed = "CONFIG SET failed (possibly related to argument '"
	limit := "normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60"
	for _, test := range []struct{ name, value, want string }{
		{"maxmemory", "1kb", "1024"}, {"maxmemory", "1K", "1000"}, {"maxmemory", "", "0"},
		{"maxmemory", "99999999999999999999", "18446744073709551615"},
		{"maxmemory", "-1", failed + "maxmemory') - argument must be a memory value"},
		{"HASH-MAX-ZIPLIST-VALUE", "x", failed + "hash-max-ziplist-value') - argument must be a memory value"},
		{"DATABASES", "x", failed + "DATABASES') - can't set immutable config"},
		{"dir", "/", failed + "dir') - can't set protected config"},
		{"nope", "1", "Unknown option or number of arguments for CONFIG SET - 'nope'"},
		{"timeout", "+5", failed + "timeout') - argument couldn't be parsed into an integer"},
		{"maxclients", "0", failed + "maxclients') - argument must be between 1 and 4294967295 inclusive"},
		{"activerehashing", "Yes", "yes"},
		{"activerehashing", "1", failed + "activerehashing') - argument must be 'yes' or 'no'"},
		{"loglevel", "NOTICE", "notice"},
		{"appendfsync", "", failed + "appendfsync') - argument(s) must be one of the following: everysec, always, no"},
		{"notify-keyspace-events", "KEAmn", "AKEm"}, {"notify-keyspace-events", "KEgn", "gnKE"},
		{"notify-keyspace-events", "KEg$lshzxet", "g$lshzxetKE"}, {"notify-keyspace-events", "An", "A"},
		{"notify-keyspace-events", "y", failed + "notify-keyspace-events') - Invalid event class character. Use 'Ag$lshzxeKEtmdn'."},
		{"client-output-buffer-limit", "NORMAL 1mb 2 3", "normal 1048576 2 3" + limit[len("normal 0 0 0"):]},
		{"client-output-buffer-limit", "foo 1 2 3", failed + "client-output-buffer-limit') - Invalid client class specified in buffer limit configuration."},
		{"client-output-buffer-limit", "normal 1 2", failed + "client-output-buffer-limit') - Wrong number of arguments in buffer limit configuration."},
		{"client-output-buffer-limit", "normal 1 2 -3", failed + "client-output-buffer-limit') - Error in hard, soft or soft_seconds setting in buffer limit configuration."},
		{"client-output-buffer-limit", "", limit},
		{"hz", "0", "1"}, {"hz", "777", "500"},
		{"hz", "-1", failed + "hz') - argument must be between 0 and 2147483647 inclusive"},
		{"repl-backlog-size", "1", "16384"}, {"repl-backlog-size", "20kb", "20480"},
		{"activedefrag", "no", "no"},
		{"activedefrag", "yes", failed + "activedefrag') - " + errDefrag.Error()},
		{"shutdown-on-sigterm", "save nosave", failed + "shutdown-on-sigterm') - shutdown options SAVE and NOSAVE can't be used simultaneously"},
		{"save", "1 2 3 4", "1 2 3 4"}, {"save", "", ""},
		{"save", "0 1", failed + "save') - Invalid save parameters"},
		{"oom-score-adj-values", "1 2", failed + "oom-score-adj-values') - wrong number of arguments"},
		{"latency-tracking-info-percentiles", "100.0 1e1", "100 10"},
		{"maxmemory-policy", "allkeys-lru", "allkeys-lru"},
		{"masterauth", "x\x00y", "x\x00y"}, {"masteruser", "x\x00y", "x"},
		{"oom-score-adj", "RELATIVE", "yes"}, {"notify-keyspace-events", "KE\x00?", "KE"},
		{"save", "+900 99999999999", "900 1215752191"}, {"save", "900 5 ", failed + "save') - Invalid save parameters"},
		{"proc-title-template", "{title} ", failed + "proc-title-template') - " + string(errTitle)},
		{"proc-title-template", "{{title}}", "{{title}}"},
		{"port", "1", failed + "port') - " + noRebind},
	} {
		c := New()
		err := c.Set([]Pair{{test.name, test.value}}, false)
		got := c.Get(test.name)
		if err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%s %q:\n got %s\nwant %s", test.name, test.value, got, test.want)
		}
	}
}

func TestSetIsAllOrNothing(t *testing.T) {
	c := New()
	err := c.Set([]Pair{{"maxclients", "7"}, {"timeout", "x"}}, false)
	if err == nil || c.MaxClients != 10000 {
		t.Errorf("maxclients %d, %v", c.MaxClients, err)
	}
	err = c.Set([]Pair{{"timeout", "5"}, {"TIMEOUT", "6"}}, false)
	if err == nil || !strings.Contains(err.Error(), "duplicate parameter") || c.Timeout.Load() != 0 {
		t.Errorf("the same directive twice: timeout %d, %v", c.Timeout.Load(), err)
	}
}

func TestFieldsFollowTheirDirectives(t *testing.T) {
	c, err := Parse([]string{"--port", "auto", "--bind", "127.0.0.1 -::1", "--requirepass", "--secret",
		"--timeout", "7", "--client-output-buffer-limit", "pubsub", "1kb", "2", "3",
		"--unixsocketperm", "700", "--save", "--maxmemory", "1gb"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !c.PortAuto || len(c.Bind) != 2 || c.RequirePass != "--secret" || c.Timeout.Load() != 7 ||
		c.OutputLimits[PubSubClient] != (OutputLimit{1024, 2, 3}) || c.UnixSocketPerm != 0o700 ||
		c.MaxMemory != 1<<30 {
		t.Errorf("%+v", c)
	}
	if save := c.Get("save"); save != "" {
		t.Errorf("save %q", save)
	}
}

func TestTheNewKeyEventIsInForceWhenItIsNotShown(t *testing.T) {
	c, err := Parse([]string{"--notify-keyspace-events", "KEAn"}, nil)
	shown := c.Get("notify-keyspace-events")
	if err != nil || shown != "AKE" || c.NotifyEvents&keyevent.New == 0 {
		t.Errorf("%q, classes %s, %v", shown, c.NotifyEvents, err)
	}
}

func TestFatalErrorsReadAsRedis(t *testing.T) {
	const head = "\n*** FATAL CONFIG FILE ERROR (Redis 7.0.15) ***\n"
	at := func(n, line, reason string) string {
		return head + "Reading the configuration file, at line " + n + "\n>>> '" + line + "'\n" + reason
	}
	bad := "Bad directive or wrong number of arguments"
	for _, test := range []struct{ args, stdin, want string }{
		{"--port 0 --nope x", "", at("3", `nope "x"`, bad)},
		{"--port", "", at("2", "port", "wrong number of arguments")},
		{"--port=0", "", at("2", "port=0", bad)},
		{"-p 3", "", at("2", `"-p" "3"`, bad)},
		{"-", "port 0\n save \"a\n", at("2", `save "a`, "Unbalanced quotes in configuration line")},
		{"--port 70000", "", at("2", `port "70000"`, "argument must be between 0 and 65535 inclusive")},
		{"--rename-command GET", "", at("2", `rename-command "GET"`, bad)},
		{"--cluster-slots 5-3", "", at("2", `cluster-slots "5-3"`, `"5-3" is no slot from 0 to 16383 and no range of them`)},
		{"--replicaof h x", "", at("2", `replicaof "h" "x"`, "Invalid master port")},
		{"--user", "", at("2", `user`, bad)},
		{"--daemonize yes", "", at("2", `daemonize "yes"`, noDaemon)},
		{"--dbfilename a/b", "", at("2", `dbfilename "a/b"`, "dbfilename can't be a path, just a filename")},
		{"--appenddirname a/b", "", at("2", `appenddirname "a/b"`, "appenddirname can't be a path, just a dirname")},
		{"--shutdown-on-sigterm nosave save", "", at("2", `shutdown-on-sigterm "nosave" "save"`, "shutdown options SAVE and NOSAVE can't be used simultaneously")},
		{"-", "dir \"\"", at("1", `dir ""`, "No such file or directory")},
		{"-", "client-output-buffer-limit \"\"", at("1", `client-output-buffer-limit ""`, "Wrong number of arguments in buffer limit configuration.")},
		{"--dir nowhere", "", at("2", `dir "nowhere"`, "No such file or directory")},
	} {
		_, err := Parse(strings.Fields(test.args), strings.NewReader(test.stdin))
		if err == nil || err.Error() != test.want {
			t.Errorf("%s:\n got %v\nwant %s", test.args, err, test.want)
		}
	}
}

func TestOnlyTheLastValueIsRefused(t *testing.T) {
	for _, test := range []struct{ args, stdin, want string }{
		{"- --daemonize no", "daemonize yes\n", ""},
		{"- --supervised no --maxmemory-policy noeviction", "supervised systemd\nmaxmemory-policy allkeys-lru\n", ""},
		{"- --slaveof no one", "replicaof 127.0.0.1 6379\n", ""},
		{"-", "daemonize no\nport 0\ndaemonize yes\nport 1\n", "line 3\n>>> 'daemonize yes'\n" + noDaemon},
		{"- --daemonize yes", "daemonize yes\n", "line 3\n>>> 'daemonize \"yes\"'\n" + noDaemon},
		{"-", "supervised systemd\ndaemonize yes\nsupervised no\n", "line 2\n>>> 'daemonize yes'\n" + noDaemon},
	} {
		_, err := Parse(strings.Fields(test.args), strings.NewReader(test.stdin))
		got := ""
		if err != nil {
			got = err.Error()
		}
		if !strings.HasSuffix(got, test.want) || (got == "") != (test.want == "") {
			t.Errorf("%q, %s:\n got %s\nwant %s", test.stdin, test.args, got, test.want)
		}
	}
}

// latencyLine is a line that Redis writes although the value is the default.
const latencyLine = "latency-tracking-info-percentiles 50 99 99.9\n"

func TestRewriteReplacesTheLinesOfUsers(t *testing.T) {
	c := New()
	text := "save \"\"\nuser b on\n# comment\nuser a off >x\nport 0\nuser c\n"
	if err := c.loadText(text, 0); err != nil {
		t.Fatal(err)
	}
	if len(c.Users) != 3 || c.Users[1].Name != "a" || !slices.Equal(c.Users[1].Rules, []string{"off", ">x"}) {
		t.Errorf("users %+v", c.Users)
	}
	const added = "\n" + signature + "\n" + latencyLine
	if got := c.rewritten(text, false); got != text+added {
		t.Errorf("without users: %q", got)
	}
	c.UserState = func() [][]string { return [][]string{{"a", "on", "~\"x"}, {"default", "on"}} }
	want := "save \"\"\nuser a on \"~\\\"x\"\n# comment\nuser default on\nport 0\n" + added
	if got := c.rewritten(text, false); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := c.rewritten("port 0\n", false); !strings.HasSuffix(got, signature+"\n"+latencyLine+"save \"\"\nuser a on \"~\\\"x\"\nuser default on\n") {
		t.Errorf("new lines: %q", got)
	}
	c.UserState = func() [][]string { return nil }
	if got := c.rewritten(text, false); got != "save \"\"\n\n# comment\n\nport 0\n"+added {
		t.Errorf("with an ACL file: %q", got)
	}
}

func TestAWrongUserLineHidesItsPassword(t *testing.T) {
	c := New()
	if err := c.loadText("user a on >secret foo\nuser b foo", 0); err != nil {
		t.Fatal(err)
	}
	err := c.Users[0].Errorf("why").Error()
	if strings.Contains(err, "secret") || !strings.Contains(err, ">>> 'user a on >(redacted) foo'\nwhy") {
		t.Error(err)
	}
	if err := c.Users[1].Errorf("why").Error(); !strings.Contains(err, ">>> 'user b foo'\nwhy") {
		t.Error(err)
	}
}

func TestTheFileIsReadBeforeStdinAndOptions(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "extra.conf"), "databases 3\nsave 1 2\n")
	write(t, filepath.Join(dir, "redis.conf"),
		"# mine\nsave 60 1\ninclude "+dir+"/ex*.conf\nmaxclients 5\nslaveof no one\n")
	args := []string{filepath.Join(dir, "redis.conf"), "--maxclients", "7", "-"}
	c, err := Parse(args, strings.NewReader("maxclients 6\n"))
	if err != nil {
		t.Fatal(err)
	}
	if save := c.Get("SAVE"); c.MaxClients != 7 || c.Databases != 3 || save != "60 1 1 2" {
		t.Errorf("maxclients %d, databases %d, save %q", c.MaxClients, c.Databases, save)
	}
}

func TestRewriteKeepsCommentsAndIsReadBackEqual(t *testing.T) {
	path := filepath.Join(t.TempDir(), "redis.conf")
	write(t, path, "# mine\ntimeout 5\nsave 60 1\nsave 1 2\n")
	c, err := Parse([]string{path, "--requirepass", "a \"b"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Set([]Pair{{"timeout", "6"}, {"maxclients", "9"}}, false); err != nil {
		t.Fatal(err)
	}
	if err := c.Rewrite(); err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(path)
	want := "# mine\ntimeout 6\nsave 60 1\nsave 1 2\n\n" + signature +
		"\ndir " + quote(c.Dir) + "\n" + latencyLine + "maxclients 9\nrequirepass \"a \\\"b\"\n"
	if string(text) != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
	again, err := Parse([]string{path}, nil)
	if err != nil || again.RequirePass != "a \"b" || again.rewritten(want, false) != want+"\n" {
		t.Errorf("read back: %v, %q", err, again.RequirePass)
	}
	if err := New().Rewrite(); !errors.Is(err, ErrNoFile) {
		t.Errorf("without a file: %v", err)
	}
}

// compat_test/survey asks redis-server for the same.
func TestRewriteNamesNoPrimaryOfAClustersNode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "redis.conf")
	write(t, path, "cluster-enabled yes\n")
	c, err := Parse([]string{path}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c.Follow("127.0.0.1", 7000)
	for _, text := range []string{"cluster-enabled yes\n", "cluster-enabled yes\nreplicaof 127.0.0.1 1\ntimeout 7\n"} {
		write(t, path, text)
		if err := c.Rewrite(); err != nil {
			t.Fatal(err)
		}
		if text, _ := os.ReadFile(path); strings.Contains(string(text), "replicaof") {
			t.Errorf("got\n%s", text)
		}
	}
	if c.Get("replicaof") != "127.0.0.1 7000" {
		t.Errorf("replicaof is %q", c.Get("replicaof"))
	}
}

func TestErrorsOfFilesHaveTheTextOfTheSystem(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gone")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "redis.conf")
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	c, err := Parse([]string{path}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := c.Rewrite(); err == nil || err.Error() != "Rewriting config file: No such file or directory" {
		t.Errorf("the directory is gone: %v", err)
	}
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := c.Rewrite(); err == nil || err.Error() != "Rewriting config file: Is a directory" {
		t.Errorf("a directory in the file's place: %v", err)
	}
}

// redis-server 7.0.15 writes these lines.
func TestRewriteWritesTheFormsOfRedis(t *testing.T) {
	const text = "save 900 1\nsave 300 10\nmaxmemory 104857600\nhz 20\nhz 30\n\n\n" +
		"client-output-buffer-limit slave 512mb 128mb 60\nlogfile \"\"\nunixsocket /s\nunixsocket \"\"\n"
	c := New()
	if err := c.loadText(text+"save \"\"\nnotify-keyspace-events KEA\nrepl-backlog-size 2mb\n"+
		"client-output-buffer-limit pubsub 1mb 2000 3\nsave 1 2\n", 0); err != nil {
		t.Fatal(err)
	}
	want := "save 1 2\n\nmaxmemory 100mb\nhz 30\n\n" +
		"client-output-buffer-limit normal 0 0 0\nlogfile \"\"\n\n" + signature + "\n" +
		"client-output-buffer-limit replica 512mb 128mb 60\nclient-output-buffer-limit pubsub 1mb 2000 3\n" +
		"dir " + quote(c.Dir) + "\n" + latencyLine + "notify-keyspace-events \"AKE\"\nrepl-backlog-size 2mb\n"
	if got := c.rewritten(text, false); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Redis writes such sizes as negative numbers, with which it does not start.
func TestASizeAboveMaxInt64StaysAndIsReadBack(t *testing.T) {
	c := New()
	err := c.Set([]Pair{{"cluster-link-sendbuf-limit", "18446744073709551615"},
		{"client-output-buffer-limit", "normal 18446744073709551615 17179869183gb 1"}}, true)
	if err == nil {
		err = c.Set([]Pair{{"client-output-buffer-limit", "pubsub 1 2 3"}}, true)
	}
	if err != nil {
		t.Fatal(err)
	}
	const limits = "normal 18446744073709551615 18446744072635809792 1 slave 268435456 67108864 60 pubsub 1 2 3"
	if got := c.find("client-output-buffer-limit").value; got != limits {
		t.Errorf("client-output-buffer-limit %s", got)
	}
	text := c.rewritten("", false)
	for _, line := range []string{"cluster-link-sendbuf-limit 18446744073709551615\n",
		"client-output-buffer-limit normal 18446744073709551615 17179869183gb 1\n"} {
		if !strings.Contains(text, line) {
			t.Errorf("no %q in\n%s", line, text)
		}
	}
	if again := New(); again.loadText(text, 0) != nil || again.OutputLimits != c.OutputLimits {
		t.Errorf("%v are read back as %v", c.OutputLimits, again.OutputLimits)
	}
}

func TestMatchKeepsTheSpellingOfAnExactName(t *testing.T) {
	prefix := func(pattern, name string) bool {
		return strings.HasPrefix(name, strings.ToLower(strings.TrimSuffix(pattern, "*")))
	}
	got := New().Match([]string{"MAXCLIENTS", "maxcl*", "HASH-max-zip*", "nope", "["}, prefix)
	want := []Pair{{"MAXCLIENTS", "10000"},
		{"hash-max-ziplist-entries", "512"}, {"hash-max-ziplist-value", "64"}}
	if len(got) != len(want) {
		t.Fatalf("%v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%v, want %v", got[i], want[i])
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestAFileThatIncludesItselfIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "redis.conf")
	write(t, path, "port 0\ninclude "+path+"\n")
	_, err := Parse([]string{path}, strings.NewReader(""))
	want := "at line 2\n>>> 'include " + path + "'\n" + errIncludes.Error()
	if err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Fatal(err)
	}
}

func TestRewriteQuotesWordsThatNeedIt(t *testing.T) {
	for _, value := range []string{"a\x01b", "é", "a'b", `a\b`, "a\tb", "#", ""} {
		c := New()
		if err := c.Load("syslog-ident", value); err != nil {
			t.Fatal(err)
		}
		again := New()
		if err := again.loadText(c.rewritten("", false), 0); err != nil || again.Get("syslog-ident") != value {
			t.Errorf("%q is rewritten as %q: %v", value, c.rewritten("", false), err)
		}
	}
}

func TestRewriteLeavesOutALineThatNoFileCanSay(t *testing.T) {
	const text = "slaveof no one\nport 1\nsave \"\"\n"
	c, err := Parse([]string{"-"}, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := c.rewritten(text, false), "\nport 1\nsave \"\"\n\n"+signature+"\n"+latencyLine; got != want {
		t.Errorf("rewritten as %q, want %q", got, want)
	}
}

func TestRewriteAllAddsEveryDirectiveAndIsReadBackEqual(t *testing.T) {
	path := filepath.Join(t.TempDir(), "redis.conf")
	write(t, path, "timeout 5\n")
	c, err := Parse([]string{path}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.RewriteAll(); err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(path)
	for _, line := range []string{"timeout 5\n", "\nmaxclients 10000\n", "\nappendonly no\n"} {
		if strings.Count(string(text), line) != 1 {
			t.Errorf("%q is %d times in\n%s", line, strings.Count(string(text), line), text)
		}
	}
	again, err := Parse([]string{path}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range c.settings {
		if was, is := c.settings[i], again.settings[i]; was.value != is.value {
			t.Errorf("%s was %q and is %q", was.name, was.value, is.value)
		}
	}
}
