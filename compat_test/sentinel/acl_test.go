package sentinel

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/compat_test/wire"
	"github.com/lockredis/lockredis/internal/redistest"
)

// TestUsersAreThoseOfRedisSentinel sends the same ACL commands to both kinds of Sentinels.
// Each reads its users from its file and writes them there.
func TestUsersAreThoseOfRedisSentinel(t *testing.T) {
	t.Parallel()
	const users = "user watcher on nopass +ping (+sentinel|masters) (+subscribe &+*)\n" +
		"user off\nsentinel monitor m 127.0.0.1 1 1\n"
	own, err := redistest.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	conf := writeConf(t, t.TempDir(), own, users)
	redis := redistest.Run(t, redistest.Command{Addr: "127.0.0.1:" + own, Args: []string{conf, "--sentinel"}})

	ourConf := filepath.Join(t.TempDir(), "sentinel.conf")
	if err := os.WriteFile(ourConf, []byte(users), 0o600); err != nil {
		t.Fatal(err)
	}
	settings, err := lockredis.ParseSettings([]string{ourConf, "--sentinel", "--port", "auto"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	srv := lockredis.New(lockredis.Config{Settings: settings})
	if err := srv.Start(); err != nil {
		t.Fatal(err)
	}
	defer srv.Close()

	var conns [2]*wire.Conn
	for i, addr := range []string{redis.Addr, srv.Addr()} {
		if conns[i], err = wire.Dial(addr); err != nil {
			t.Fatal(err)
		}
		defer conns[i].Close()
	}
	for line := range strings.Lines(`ACL LIST
		ACL WHOAMI
		ACL SETUSER a on nopass +get
		ACL SETUSER a on nopass +@all -@dangerous
		ACL GETUSER a
		ACL SETUSER a -@all +@slow
		ACL GETUSER a
		ACL SETUSER a -@all +@sentinel
		ACL DRYRUN watcher SENTINEL masters
		ACL DRYRUN watcher SENTINEL master m
		ACL DRYRUN watcher SUBSCRIBE +odown
		ACL DRYRUN watcher SUBSCRIBE -odown
		ACL CAT connections
		ACL LOAD
		ACL SAVE
		ACL DELUSER a
		SENTINEL FLUSHCONFIG
		AUTH off x
		AUTH watcher x
		PING
		SENTINEL get-master-addr-by-name m
		SUBSCRIBE -odown
		ACL WHOAMI
		SUBSCRIBE +odown`) {
		words := strings.Fields(line)
		want, err := conns[0].Do(words...)
		if err != nil {
			t.Fatal(err)
		}
		got, err := conns[1].Do(words...)
		if err != nil {
			t.Fatal(err)
		}
		if string(got.Raw) != string(want.Raw) {
			t.Errorf("%q\n got %s\nwant %s", words, got, want)
		}
	}
	for _, path := range []string{conf, ourConf} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{
			"user default on nopass ~* &* +@all\n", "user off off resetchannels -@all\n",
			"user watcher on nopass resetchannels -@all +",
		} {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s has no line %q:\n%s", path, want, text)
			}
		}
	}
}
