package cluster_test

import (
	"strings"
	"testing"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/command/commandtest"
)

// loggingServer records log lines.
type loggingServer struct {
	command.Server
	lines []string
}

func (s *loggingServer) Log(level, msg string) { s.lines = append(s.lines, level+" "+msg) }

func TestAClientThatExpectsAClusterIsLoggedOnce(t *testing.T) {
	h := commandtest.New(t)
	server := &loggingServer{}
	h.Ctx.Server = server
	for _, line := range []string{"cluster nodes", "cluster slots", "readonly"} {
		if got := h.Run(line).Text(); got != "ERR This instance has cluster support disabled" {
			t.Errorf("%s: %s", line, got)
		}
	}
	if len(server.lines) != 1 || !strings.Contains(server.lines[0], "cluster-enabled") {
		t.Errorf("%q", server.lines)
	}
}
