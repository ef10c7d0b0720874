package differential

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/compat_test/wire"
)

// oracleVersion is the redis-server these tests are about.
const oracleVersion = "7.0.15"

// startTimeout is how long a server may take until it accepts connections.
const startTimeout = 20 * time.Second

// startOracle starts a redis-server for the test, or skips where there is none.
func startOracle(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("redis-server is not installed, and CI=true wants the differential tests")
		}
		t.Skip("differential tests skipped: redis-server " + oracleVersion + " is not on the PATH")
	}
	addr := launch(t, path)
	if v := versionOf(t, addr); v != oracleVersion {
		t.Fatalf("redis-server is version %q, the differential tests need %s", v, oracleVersion)
	}
	return addr
}

// startTarget starts what is compared with redis-server: see doc.go for the choice.
func startTarget(t *testing.T) string {
	t.Helper()
	switch target := os.Getenv("LOCKREDIS_DIFF_TARGET"); {
	case target == "redis":
		path, err := exec.LookPath("redis-server")
		if err != nil {
			t.Fatal(err)
		}
		return launch(t, path)
	case strings.Contains(target, ":"):
		return target
	case target == "inprocess" || target == "" && raceDetector:
		return startInProcess(t)
	}
	path := filepath.Join(t.TempDir(), "lockredis")
	build := exec.Command("go", "build", "-o", path, "github.com/lockredis/lockredis/cmd/lockredis")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building lockredis: %v\n%s", err, out)
	}
	return launch(t, path)
}

// startInProcess runs lockredis in the test's own process.
func startInProcess(t *testing.T) string {
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

// launch runs a server on a free port until the end of the test.
func launch(t *testing.T, path string) string {
	t.Helper()
	addr := freeAddr(t)
	_, port, _ := net.SplitHostPort(addr)
	// Redis notices the end of a wait in its cron only: at hz 10 a wait of 1 ms takes 50.
	cmd := exec.Command(path, "--hz", "500", "--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--daemonize", "no", "--loglevel", "warning")
	cmd.Dir = t.TempDir()
	// SORT ALPHA compares by the locale of redis-server.
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
		if t.Failed() && log.Len() > 0 {
			t.Logf("log of %s on %s:\n%.3000s", path, addr, log.String())
		}
	})
	await(t, addr, ended, &log)
	return addr
}

// await polls until the server answers.
func await(t *testing.T, addr string, ended <-chan struct{}, log fmt.Stringer) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(startTimeout)
	for {
		if c, err := wire.Dial(addr); err == nil {
			_, err = c.Do("PING")
			c.Close()
			if err == nil {
				return
			}
		}
		select {
		case <-ended:
			t.Fatalf("the server on %s ended at its start:\n%s", addr, log)
		case <-limit:
			t.Fatalf("no server on %s after %s", addr, startTimeout)
		case <-tick.C:
		}
	}
}

func freeAddr(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}

// versionOf reads redis_version; a server that is lockredis has none here.
func versionOf(t *testing.T, addr string) string {
	t.Helper()
	c, err := wire.Dial(addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	v, err := c.Do("INFO", "server")
	if err != nil {
		t.Fatal(err)
	}
	info := string(v.Str)
	if strings.Contains(info, "lockredis_version") {
		return "lockredis"
	}
	for _, line := range strings.Split(info, "\r\n") {
		if rest, ok := strings.CutPrefix(line, "redis_version:"); ok {
			return rest
		}
	}
	return ""
}
