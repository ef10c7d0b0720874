package lockredis_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/compat_test/wire"
)

// startWith starts a server with the arguments of redis-server.
func startWith(t *testing.T, args ...string) *lockredis.Server {
	t.Helper()
	set, err := lockredis.ParseSettings(append(args, "--port", "auto"), nil)
	if err != nil {
		t.Fatal(err)
	}
	return start(t, lockredis.Config{Settings: set})
}

// ask returns the text of a reply, or the texts of an array, joined by lines.
func ask(t *testing.T, c *wire.Conn, words ...string) string {
	t.Helper()
	v, err := c.Do(words...)
	if err != nil {
		t.Fatalf("%q: %v", words, err)
	}
	if len(v.Elems) == 0 {
		return string(v.Str)
	}
	var lines []string
	for _, e := range v.Elems {
		lines = append(lines, string(e.Str))
	}
	return strings.Join(lines, "\n")
}

// foo is the hash of the password "foo", x of "x".
const (
	foo = "#2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"
	x   = "#2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
)

func TestUserLinesMakeUsers(t *testing.T) {
	srv := startWith(t, "--requirepass", "foo", "--user", "app", "on", ">x", "~orders:*", "+get", "(+set", "~a)",
		"--user", "off")
	c := dial(t, srv)
	expect(t, c, "GET a", "-NOAUTH Authentication required.\r\n")
	expect(t, c, "AUTH foo", "+OK\r\n")
	want := "user app on " + x + " ~orders:* resetchannels -@all +get (~a resetchannels -@all +set)\n" +
		"user default on " + foo + " ~* &* +@all\nuser off off resetchannels -@all"
	if got := ask(t, c, "ACL", "LIST"); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	expect(t, c, "AUTH off x", "-WRONGPASS invalid username-password pair or user is disabled.\r\n")
	expect(t, c, "AUTH app x", "+OK\r\n")
	expect(t, c, "GET orders:1", "$-1\r\n")
	expect(t, c, "GET a", "-NOPERM this user has no permissions to access one of the keys used as arguments\r\n")
	expect(t, c, "SET a 1", "+OK\r\n")
	expect(t, c, "DEL a", "-NOPERM this user has no permissions to run the 'del' command\r\n")
}

func TestALineForTheDefaultUserReplacesRequirepass(t *testing.T) {
	srv := startWith(t, "--user", "default", "on", ">x", "+@all", "~*", "&*", "--requirepass", "foo")
	c := dial(t, srv)
	expect(t, c, "AUTH foo", "-WRONGPASS invalid username-password pair or user is disabled.\r\n")
	expect(t, c, "AUTH x", "+OK\r\n")
	expect(t, c, "CONFIG GET requirepass", "*2\r\n$11\r\nrequirepass\r\n$3\r\nfoo\r\n")
	if got := ask(t, c, "ACL", "LIST"); got != "user default on sanitize-payload "+x+" ~* &* +@all" {
		t.Error(got)
	}
	expect(t, c, "CONFIG SET requirepass bar", "+OK\r\n")
	expect(t, c, "AUTH bar", "+OK\r\n")
}

func TestDirectivesOfAGoProgramMakeAUser(t *testing.T) {
	srv := start(t, lockredis.Config{Password: "foo", Directives: map[string]string{
		"user": "app on >x +ping", "acl-pubsub-default": "allchannels",
	}})
	c := dial(t, srv)
	expect(t, c, "AUTH app x", "+OK\r\n")
	expect(t, c, "PING", "+PONG\r\n")
	expect(t, c, "AUTH foo", "+OK\r\n")
	if got := ask(t, c, "ACL", "GETUSER", "app"); !strings.Contains(got, "\n&*\n") {
		t.Error(got)
	}
}

func TestStartFailsWithAWrongUser(t *testing.T) {
	for _, test := range []struct{ user, want string }{
		{"app on >secret +nosuch", "directive user app: Error in user declaration '+nosuch': Unknown command or category name in ACL"},
		{"app (+get", "directive user app: Error in user declaration '(+get': Unmatched parenthesis in acl selector"},
		{"app #secret", "directive user app: Error in user declaration '#(redacted)': The password hash must be exactly 64 characters"},
	} {
		err := lockredis.New(lockredis.Config{Directives: map[string]string{"user": test.user}}).Start()
		if err == nil || !strings.HasPrefix(err.Error(), test.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", test.user, err)
		}
	}
}

func TestConfigRewriteWritesTheUsers(t *testing.T) {
	conf := filepath.Join(t.TempDir(), "redis.conf")
	text := "port 0\nport auto\nuser z on +get\n# comment\nuser default on >x ~* +@all &*\nuser y off\nrequirepass foo\n"
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	srv := startWith(t, conf)
	c := dial(t, srv)
	for _, command := range []string{"AUTH x", "ACL SETUSER b", "ACL SETUSER c on ~a\"b", "CONFIG REWRITE"} {
		expect(t, c, command, "+OK\r\n")
	}
	expect(t, c, "ACL DELUSER y", ":1\r\n")
	expect(t, c, "CONFIG REWRITE", "+OK\r\n")
	got, err := os.ReadFile(conf)
	if err != nil {
		t.Fatal(err)
	}
	lines := []string{"user b off resetchannels -@all", "# comment", `user c on "~a\"b" resetchannels -@all`,
		"user default on sanitize-payload " + x + " ~* &* +@all", "requirepass \"foo\"", "user z on resetchannels -@all +get"}
	rest := string(got)
	for _, line := range lines {
		_, after, found := strings.Cut(rest, line+"\n")
		if !found {
			t.Fatalf("no line %q in\n%s", line, got)
		}
		rest = after
	}
	again := dial(t, startWith(t, conf))
	expect(t, again, "AUTH x", "+OK\r\n")
	if got, want := ask(t, again, "ACL", "LIST"), ask(t, c, "ACL", "LIST"); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func TestAnACLFileIsLoadedAndSaved(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "users.acl")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("user a on nopass ~* &* +@all\nuser p on >x resetchannels &c +@all")
	srv := startWith(t, "--dir", dir, "--aclfile", "users.acl")
	c, a, p := dial(t, srv), dial(t, srv), dial(t, srv)
	expect(t, a, "AUTH a x", "+OK\r\n")
	expect(t, p, "AUTH p x", "+OK\r\n")
	expect(t, c, "ACL SETUSER z on", "+OK\r\n")
	expect(t, c, "ACL SAVE", "+OK\r\n")
	want := "user a on nopass ~* &* +@all\nuser default on nopass ~* &* +@all\n" +
		"user p on " + x + " resetchannels &c +@all\nuser z on resetchannels -@all\n"
	if got, err := os.ReadFile(file); err != nil || string(got) != want {
		t.Errorf("%v, %s\nwant %s", err, got, want)
	}

	write("user a on foo\n")
	expect(t, c, "ACL LOAD", "-ERR users.acl:1: Syntax error. WARNING: ACL errors detected, "+
		"no change to the previously active ACL rules was performed\r\n")
	expect(t, a, "PING", "+PONG\r\n")

	write("user a on nopass ~* &* +@all\nuser default on >x ~k +@all\n")
	expect(t, c, "ACL LOAD", "+OK\r\n")
	expectClosed(t, a)
	expectClosed(t, p)
	expect(t, c, "GET b", "-NOPERM this user has no permissions to access one of the keys used as arguments\r\n")
	expect(t, dial(t, srv), "PING", "-NOAUTH Authentication required.\r\n")

	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	expect(t, c, "ACL LOAD", "-ERR Error loading ACLs, opening file 'users.acl': No such file or directory\r\n")
	if err := os.Mkdir(file, 0o700); err != nil {
		t.Fatal(err)
	}
	expect(t, c, "ACL SAVE", "-ERR There was an error trying to save the ACLs. "+
		"Please check the server logs for more information\r\n")
}

func TestAClientThatLosesItsOwnChannelGetsItsReply(t *testing.T) {
	srv := start(t, lockredis.Config{Directives: map[string]string{"user": "u on nopass ~* &* +@all"}})
	c := dial(t, srv)
	if got := ask(t, c, "HELLO", "3", "AUTH", "u", "x"); !strings.HasPrefix(got, "server\n") {
		t.Fatal(got)
	}
	expect(t, c, "SUBSCRIBE a", ">3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n")
	expect(t, c, "ACL SETUSER u resetchannels &a", "+OK\r\n")
	expect(t, c, "PING", "+PONG\r\n")
	expect(t, c, "ACL SETUSER u resetchannels &b", "+OK\r\n")
	expectClosed(t, c)
}
