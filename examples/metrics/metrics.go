// Package metrics counts the events of locks with Prometheus's client library.
package metrics

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lockredis/lockredis/rlock"
)

// Metrics counts the events of lock clients for each kind of lock. It has no label
// for the lock's name, because there may be too many names.
type Metrics struct {
	events *prometheus.CounterVec
	waits  *prometheus.HistogramVec
	holds  *prometheus.HistogramVec
}

// buckets are upper bounds in seconds. They range from a free lock to a lock with many
// waiters.
var buckets = []float64{0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 60}

// New registers the metrics with r. It panics if r has metrics of these names.
func New(r prometheus.Registerer) *Metrics {
	m := &Metrics{
		events: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rlock_events_total",
			Help: "Events of locks.",
		}, []string{"event", "kind"}),
		waits: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "rlock_wait_seconds",
			Help:    "Time from the call to the acquisition of a lock.",
			Buckets: buckets,
		}, []string{"kind"}),
		holds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "rlock_hold_seconds",
			Help:    "Time from the acquisition to the release or loss of a lock.",
			Buckets: buckets,
		}, []string{"kind"}),
	}
	r.MustRegister(m.events, m.waits, m.holds)
	return m
}

// Observer returns an observer for rlock.Options. Its functions only count, so they
// never delay a lock. Many clients may share the observer.
func (m *Metrics) Observer() rlock.Observer {
	return rlock.Observer{
		Acquired:      m.acquired,
		Contended:     m.count("contended"),
		TimedOut:      m.count("timed_out"),
		Failed:        m.count("failed"),
		Renewed:       m.count("renewed"),
		RenewalFailed: m.count("renewal_failed"),
		Lost:          m.ended("lost"),
		Released:      m.ended("released"),
		GaveUp:        m.count("gave_up"),
	}
}

func (m *Metrics) acquired(_ context.Context, e rlock.Event) {
	m.events.WithLabelValues("acquired", e.Kind).Inc()
	m.waits.WithLabelValues(e.Kind).Observe(e.Waited.Seconds())
	m.events.WithLabelValues("lost", e.Kind) // from 0, so that rate sees the first loss
}

// count returns a function that counts an event.
func (m *Metrics) count(event string) func(context.Context, rlock.Event) {
	return func(_ context.Context, e rlock.Event) { m.events.WithLabelValues(event, e.Kind).Inc() }
}

// ended returns a function that counts an event at the end of a hold.
func (m *Metrics) ended(event string) func(context.Context, rlock.Event) {
	return func(_ context.Context, e rlock.Event) {
		m.events.WithLabelValues(event, e.Kind).Inc()
		m.holds.WithLabelValues(e.Kind).Observe(e.Held.Seconds())
	}
}
