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
// its cron: at hz 10 a wait of 1 ms takes 50 ms. compareState asks for DEBUG DIGEST.
// SLOWLOG is for commands that no machine is slow enough for: the servers differ in time.
var directives = []string{"--hz", "500", "--loglevel", "warning", "--enable-debug-command", "yes",
	"--slowlog-log-slower-than", hourInMicros}

// hourInMicros is a time in µs that no command takes.
const hourInMicros = "3600000000"

// startTarget starts the server to compare with redis-server. See doc.go for the choice.
func startTarget(t *testing.T) string {
	t.Helper()
	switch target := os.Getenv("LOCKREDIS_DIFF_TARGET"); {
	case target == "redis":
		return startOracle(t)
	case strings.Contains(target, ":"):
		return target
	case target == "inprocess" || target == "" && redistest.RaceDetector:
		return startInProcess(t)
	}
	return runTarget(t, directives...)
}

// runTarget builds lockredis and runs it as a program.
func runTarget(t *testing.T, args ...string) string {
	t.Helper()
	program := redistest.BuildLockredis(t)
	return redistest.Run(t, redistest.Command{Program: program, Args: args}).Addr
}

// startNodes starts both servers as clusters of one node that owns all slots.
func startNodes(t *testing.T) (oracle, target string) {
	t.Helper()
	args := append([]string{"--cluster-enabled", "yes"}, directives...)
	oracle = redistest.StartNode(t, args...).Addr
	switch target := os.Getenv("LOCKREDIS_DIFF_TARGET"); {
	case target == "redis":
		return oracle, redistest.StartNode(t, args...).Addr
	case target == "inprocess" || target == "" && redistest.RaceDetector:
		return oracle, startInProcess(t, "cluster-enabled", "yes")
	case target != "":
		t.Skip("a running server need not be a cluster")
	}
	return oracle, runTarget(t, args...)
}

// startInProcess runs lockredis in the test's own process. The directives are names and values.
func startInProcess(t *testing.T, directives ...string) string {
	return startPrepared(t, func(*lockredis.Server) {}, directives...)
}

// startPrepared is startInProcess. It calls prepare before the server starts.
func startPrepared(t *testing.T, prepare func(*lockredis.Server), directives ...string) string {
	t.Helper()
	cfg := lockredis.Config{Directives: map[string]string{"enable-debug-command": "yes", "slowlog-log-slower-than": hourInMicros}}
	for i := 0; i+1 < len(directives); i += 2 {
		cfg.Directives[directives[i]] = directives[i+1]
	}
	srv := lockredis.New(cfg)
	prepare(srv)
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
