package compat

import (
	"flag"
	"testing"

	"github.com/lockredis/lockredis"
)

func TestMain(m *testing.M) {
	flag.Set("test.parallel", "6") // vectors wait for time to pass; -parallel overrides it
	m.Run()
}

// startLockredis starts an in-process lockredis for one test and returns its address.
// Directives are as on the command line of redis-server: "--name", "value", …
func startLockredis(t *testing.T, directives []string) string {
	t.Helper()
	args := append([]string{"--bind", "127.0.0.1", "--port", "auto"}, directives...)
	settings, err := lockredis.ParseSettings(args, nil)
	if err != nil {
		t.Fatal(err)
	}
	srv := lockredis.New(lockredis.Config{Settings: settings})
	if err := srv.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
	})
	return srv.Addr()
}
