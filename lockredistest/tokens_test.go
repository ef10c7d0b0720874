package lockredistest_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
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
		synctestRun(t, name, func(t *testing.T) { // the server waits for its locks to be released
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

func TestALockOfSetWithNXAndGetIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const token = "6f1c1a2e-54b7-4f7c-9d4a-0c2f6a8e3b11"
		rec := &recorder{TB: t}
		srv := lockredistest.RunT(rec)
		for range 2 { // the second one is refused
			srv.Client().Do(t.Context(), "SET", "orders", token, "NX", "GET", "PX", 60000)
			if locks := srv.Locks(); len(locks) != 1 || locks[0].Holders[0].Owner != token {
				t.Errorf("%v", locks)
			}
		}
		rec.end()
	})
}
