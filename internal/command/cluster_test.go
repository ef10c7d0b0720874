package command

import (
	"strings"
	"testing"
)

// loggingServer records log lines.
type loggingServer struct {
	Server
	lines []string
}

func (s *loggingServer) Log(level, msg string) { s.lines = append(s.lines, level+" "+msg) }

func TestAClientThatExpectsAClusterIsLoggedOnce(t *testing.T) {
	h := newHarness(t)
	server := &loggingServer{}
	h.ctx.Server = server
	for _, line := range []string{"cluster nodes", "cluster slots", "readonly"} {
		if got := h.run(line).Text(); got != "ERR This instance has cluster support disabled" {
			t.Errorf("%s: %s", line, got)
		}
	}
	if len(server.lines) != 1 || !strings.Contains(server.lines[0], "cluster-enabled") {
		t.Errorf("%q", server.lines)
	}
}
