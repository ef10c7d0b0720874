package differential

import (
	"os"
	"strings"
	"testing"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/internal/redistest"
)

// startOracle starts a redis-server for the test. Without redis-server the test skips.
func startOracle(t *testing.T) string {
	t.Helper()
	return redistest.Start(t, directives...).Addr
}

// directives are the directives of both servers. Redis notices the end of a wait only in
// its cron: at hz 10 a wait of 1 ms takes 50 ms.
var directives = []string{"--hz", "500", "--loglevel", "warning"}

// startTarget starts the server to compare with redis-server. See doc.go for the choice.
func startTarget(t *testing.T) string {
	t.Helper()
	switch target := os.Getenv("LOCKREDIS_DIFF_TARGET"); {
	case target == "redis":
		return startOracle(t)
	case strings.Contains(target, ":"):
		return target
	case target == "inprocess" || target == "" && raceDetector:
		return startInProcess(t)
	}
	program := redistest.BuildLockredis(t)
	return redistest.Run(t, redistest.Command{Program: program, Args: directives}).Addr
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
