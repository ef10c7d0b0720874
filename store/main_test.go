package store

import (
	"flag"
	"os"
	"testing"

	"github.com/lockredis/lockredis/internal/redistest"
)

// TestMain lets rapid draw fewer cases in a plain go test. -rapid.checks overrides it.
func TestMain(m *testing.M) {
	if redistest.Quick() {
		flag.Set("rapid.checks", "25")
	}
	os.Exit(m.Run())
}
