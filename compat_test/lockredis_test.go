package compat

import (
	"strings"
	"testing"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/internal/config"
)

// startLockredis starts an in-process lockredis for one test, with directives as
// redis-server takes them ("--name", "value", …), and returns its address.
func startLockredis(t *testing.T, directives []string) string {
	t.Helper()
	settings := config.New()
	settings.Bind = []string{"127.0.0.1"}
	settings.PortAuto = true
	for len(directives) > 0 {
		name := strings.TrimPrefix(directives[0], "--")
		end := 1
		for end < len(directives) && !strings.HasPrefix(directives[end], "--") {
			end++
		}
		if err := settings.Load(name, directives[1:end]...); err != nil {
			t.Fatal(err)
		}
		directives = directives[end:]
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
