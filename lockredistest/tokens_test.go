package lockredistest_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis/lockredistest"
)

func TestATokenOfAnyKindIsALock(t *testing.T) {
	host, _ := os.Hostname()
	process := fmt.Sprintf("%s:%d", host, os.Getpid())
	for name, c := range map[string]struct {
		key, value string
		ttl        time.Duration
	}{
		"a UUID without a TTL":       {"lock:orders", "6f1c1a2e-54b7-4f7c-9d4a-0c2f6a8e3b11", 0},
		"a ULID":                     {"orders", "01JD9Z3QK5V8W7E2M4N6P8R0ST", time.Minute},
		"a nanoid":                   {"orders", "V1StGXR8_Z5jdHi6B-myT", time.Minute},
		"an xid":                     {"orders", "9m4e2mr0ui3e8a215n4g", time.Minute},
		"host and pid":               {"orders", process, time.Minute},
		"host, pid and more":         {"orders", process + ":17", time.Minute},
		"host and pid without a TTL": {"OrdersMutex", process, 0},
		"a ULID in lower case":       {"orders", "01jd9z3qk5v8w7e2m4n6p8r0st", time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			rec := &recorder{TB: t}
			srv := lockredistest.RunT(rec)
			srv.Client().SetNX(t.Context(), c.key, c.value, c.ttl)
			text := rec.end()
			if !strings.Contains(text, fmt.Sprintf("lock %q is held by %s,", c.key, c.value)) {
				t.Error(text)
			}
		})
	}
}
