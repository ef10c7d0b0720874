package metrics

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/lockredis/lockredis/lockredistest"
	"github.com/lockredis/lockredis/rlock"
)

// locks returns a lock client that counts in a registry of its own.
func locks(t *testing.T, srv *lockredistest.Server) (*rlock.Client, *prometheus.Registry) {
	registry := prometheus.NewRegistry()
	c := rlock.New(srv.Client(), rlock.Options{Observer: New(registry).Observer()})
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c, registry
}

func TestAScrapeHasTheEventsOfALock(t *testing.T) {
	c, registry := locks(t, lockredistest.RunT(t))
	if err := c.Do(t.Context(), "l", func(context.Context) error { return nil }); err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).
		ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for _, line := range []string{
		`rlock_events_total{event="acquired",kind="lock"} 1`,
		`rlock_events_total{event="lost",kind="lock"} 0`,
		`rlock_events_total{event="released",kind="lock"} 1`,
		`rlock_wait_seconds_count{kind="lock"} 1`,
		`rlock_hold_seconds_count{kind="lock"} 1`,
	} {
		if !strings.Contains(w.Body.String(), line+"\n") {
			t.Errorf("%s is missing in\n%s", line, w.Body)
		}
	}
}

func TestALostLockIsCounted(t *testing.T) {
	srv := lockredistest.RunT(t)
	c, registry := locks(t, srv)
	err := c.Do(t.Context(), "l", func(context.Context) error {
		srv.Del("l")
		return nil
	})
	if !errors.Is(err, rlock.ErrLockLost) {
		t.Fatal(err)
	}
	const want = `
# HELP rlock_events_total Events of locks.
# TYPE rlock_events_total counter
rlock_events_total{event="acquired",kind="lock"} 1
rlock_events_total{event="lost",kind="lock"} 1
`
	err = testutil.GatherAndCompare(registry, strings.NewReader(want), "rlock_events_total")
	if err != nil {
		t.Error(err)
	}
}

func TestACallerThatTimesOutIsCounted(t *testing.T) {
	c, registry := locks(t, lockredistest.RunT(t))
	err := c.Do(t.Context(), "l", func(context.Context) error {
		nothing := func(context.Context) error { return nil }
		return c.Do(context.Background(), "l", nothing, rlock.Wait(0))
	})
	if !errors.Is(err, rlock.ErrTimeout) {
		t.Fatal(err)
	}
	const want = `
# HELP rlock_events_total Events of locks.
# TYPE rlock_events_total counter
rlock_events_total{event="acquired",kind="lock"} 1
rlock_events_total{event="lost",kind="lock"} 0
rlock_events_total{event="released",kind="lock"} 1
rlock_events_total{event="timed_out",kind="lock"} 1
`
	err = testutil.GatherAndCompare(registry, strings.NewReader(want), "rlock_events_total")
	if err != nil {
		t.Error(err)
	}
}

func TestTheMetricsHaveNamesAsPrometheusWantsThem(t *testing.T) {
	c, registry := locks(t, lockredistest.RunT(t))
	if err := c.Do(t.Context(), "l", func(context.Context) error { return nil }); err != nil {
		t.Fatal(err)
	}
	problems, err := testutil.GatherAndLint(registry)
	if err != nil || len(problems) > 0 {
		t.Error(problems, err)
	}
}
