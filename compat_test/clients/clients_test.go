//go:build unix

package clients

import (
	"errors"
	"flag"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/internal/redistest"
)

const variable = "LOCKREDIS_CLIENTS"

var update = flag.Bool("update", false, "write the table of docs/clients.md")

// TestUnmodifiedClientsWorkAsOnRedis runs the suites of LOCKREDIS_CLIENTS ("go,python" or
// "all") on a lockredis of this process and on a redis-server, and prints one table.
func TestUnmodifiedClientsWorkAsOnRedis(t *testing.T) {
	var lines, ran []string
	for _, suite := range wanted(t) {
		t.Run(suite, func(t *testing.T) {
			here := runOn(t, suite, "lockredis", startLockredis(t))
			there := runOn(t, suite, "redis-server", redistest.Start(t).Addr)
			for _, complaint := range judge(here, there) {
				t.Error(complaint)
			}
			lines = append(lines, rows(suite, here, there)...)
			ran = append(ran, suite)
		})
	}
	t.Logf("client by server\n%s%s", tableHead, strings.Join(lines, ""))
	if *update { // with failures, too: the table says what is so
		if err := updatePage(ran, lines); err != nil {
			t.Fatal(err)
		}
	}
}

// wanted returns the suites that LOCKREDIS_CLIENTS names, or skips the test.
func wanted(t *testing.T) []string {
	t.Helper()
	all, err := suites()
	if err != nil || len(all) == 0 {
		t.Fatalf("no suites: %v", err)
	}
	asked := os.Getenv(variable)
	if asked == "" {
		t.Skipf("set %s to some of %s, or to all", variable, strings.Join(all, ","))
	}
	redistest.Find(t)
	if asked == "all" {
		return all
	}
	names := strings.Split(asked, ",")
	for _, name := range names {
		if !slices.Contains(all, name) {
			t.Fatalf("%s: no suite %q; there are %s", variable, name, strings.Join(all, " "))
		}
	}
	return names
}

// runOn runs a suite on a server. A missing toolchain skips the test, see
// redistest.Missing.
func runOn(t *testing.T, suite, server, addr string) []check {
	t.Helper()
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	checks, err := runSuite(t.Context(), suite, port)
	if errors.Is(err, errNoToolchain) {
		redistest.Missing(t, err.Error())
	}
	if err != nil {
		t.Fatalf("on %s: %v", server, err)
	}
	t.Logf("%s on %s: %d checks, %s", suite, server, len(checks), time.Since(start).Round(time.Second/10))
	return checks
}

// startLockredis starts a lockredis in this process and returns its address.
func startLockredis(t *testing.T) string {
	t.Helper()
	srv := lockredis.New(lockredis.Config{})
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
