package metrics

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis/lockredistest"
	"github.com/lockredis/lockredis/rlock"
)

func TestEventsAreWrittenInPrometheusFormat(t *testing.T) {
	var m Metrics
	o := m.Observer()
	o.Acquired(rlock.Event{Kind: "lock", Waited: 3 * time.Millisecond})
	o.Acquired(rlock.Event{Kind: "lock", Waited: 2 * time.Minute})
	o.Lost(rlock.Event{Kind: "fair"})
	var got strings.Builder
	if _, err := m.WriteTo(&got); err != nil {
		t.Fatal(err)
	}
	const want = `# TYPE rlock_acquired_total counter
rlock_acquired_total{kind="lock"} 2
# TYPE rlock_lost_total counter
rlock_lost_total{kind="fair"} 1
# TYPE rlock_wait_seconds histogram
rlock_wait_seconds_bucket{kind="lock",le="0.001"} 0
rlock_wait_seconds_bucket{kind="lock",le="0.005"} 1
rlock_wait_seconds_bucket{kind="lock",le="0.025"} 1
rlock_wait_seconds_bucket{kind="lock",le="0.1"} 1
rlock_wait_seconds_bucket{kind="lock",le="0.5"} 1
rlock_wait_seconds_bucket{kind="lock",le="2.5"} 1
rlock_wait_seconds_bucket{kind="lock",le="10"} 1
rlock_wait_seconds_bucket{kind="lock",le="60"} 1
rlock_wait_seconds_bucket{kind="lock",le="+Inf"} 2
rlock_wait_seconds_sum{kind="lock"} 120.003
rlock_wait_seconds_count{kind="lock"} 2
`
	if got.String() != want {
		t.Errorf("wrote\n%s", got.String())
	}
}

func TestALockIsCounted(t *testing.T) {
	var m Metrics
	c := rlock.New(lockredistest.RunT(t).Client(), rlock.Options{Observer: m.Observer()})
	defer c.Close()
	if err := c.Lock("l").Do(t.Context(), func(context.Context) error { return nil }); err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	m.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	for _, line := range []string{
		`rlock_acquired_total{kind="lock"} 1`,
		`rlock_released_total{kind="lock"} 1`,
		`rlock_hold_seconds_count{kind="lock"} 1`,
	} {
		if !strings.Contains(w.Body.String(), line+"\n") {
			t.Errorf("%s is missing in\n%s", line, w.Body)
		}
	}
}
