// Package metrics counts the events of locks in Prometheus's text format, without
// Prometheus's library. A program with that library, or with OpenTelemetry, fills
// their counters and histograms from the same Observer.
package metrics

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/lockredis/lockredis/rlock"
)

// Metrics counts the events of lock clients for each kind of lock. It does not
// count by name, because there may be too many names. The zero value is ready to
// use.
type Metrics struct {
	mu     sync.Mutex // guards the fields below
	totals map[series]int
	waits  map[string]*histogram
	holds  map[string]*histogram
}

// series names one counter of one kind of lock.
type series struct{ counter, kind string }

// bounds returns the upper bounds of the histograms' buckets, in seconds.
func bounds() []float64 { return []float64{0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 60} }

type histogram struct {
	buckets []int // for each bound the number of values up to it
	count   int
	sum     float64
}

// Observer returns an observer for rlock.Options that counts in m. Its functions
// only count, so they never delay a lock.
func (m *Metrics) Observer() rlock.Observer {
	return rlock.Observer{
		Acquired: func(e rlock.Event) {
			m.count("rlock_acquired_total", e.Kind)
			m.observe(&m.waits, e.Kind, e.Waited)
		},
		Contended: func(e rlock.Event) { m.count("rlock_contended_total", e.Kind) },
		Renewed:   func(e rlock.Event) { m.count("rlock_renewed_total", e.Kind) },
		Lost:      func(e rlock.Event) { m.count("rlock_lost_total", e.Kind) },
		Released: func(e rlock.Event) {
			m.count("rlock_released_total", e.Kind)
			m.observe(&m.holds, e.Kind, e.Held)
		},
	}
}

func (m *Metrics) count(counter, kind string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.totals == nil {
		m.totals = map[series]int{}
	}
	m.totals[series{counter, kind}]++
}

func (m *Metrics) observe(all *map[string]*histogram, kind string, d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if *all == nil {
		*all = map[string]*histogram{}
	}
	h := (*all)[kind]
	if h == nil {
		h = &histogram{buckets: make([]int, len(bounds()))}
		(*all)[kind] = h
	}
	h.count++
	h.sum += d.Seconds()
	for i, bound := range bounds() {
		if d.Seconds() <= bound {
			h.buckets[i]++
		}
	}
}

// ServeHTTP answers a scrape.
func (m *Metrics) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = m.WriteTo(w)
}

// WriteTo writes all metrics in the text format 0.0.4, sorted by name.
func (m *Metrics) WriteTo(w io.Writer) (int64, error) {
	n, err := w.Write(m.text())
	return int64(n), err
}

func (m *Metrics) text() (text []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	last := ""
	for _, s := range slices.SortedFunc(maps.Keys(m.totals), compare) {
		if s.counter != last {
			text = fmt.Appendf(text, "# TYPE %s counter\n", s.counter)
			last = s.counter
		}
		text = fmt.Appendf(text, "%s{kind=%q} %d\n", s.counter, s.kind, m.totals[s])
	}
	text = appendHistograms(text, "rlock_hold_seconds", m.holds)
	return appendHistograms(text, "rlock_wait_seconds", m.waits)
}

func compare(a, b series) int {
	switch {
	case a == b:
		return 0
	case a.counter < b.counter, a.counter == b.counter && a.kind < b.kind:
		return -1
	}
	return 1
}

func appendHistograms(text []byte, name string, all map[string]*histogram) []byte {
	if len(all) > 0 {
		text = fmt.Appendf(text, "# TYPE %s histogram\n", name)
	}
	for _, kind := range slices.Sorted(maps.Keys(all)) {
		h := all[kind]
		for i, bound := range bounds() {
			text = fmt.Appendf(text, "%s_bucket{kind=%q,le=\"%g\"} %d\n",
				name, kind, bound, h.buckets[i])
		}
		text = fmt.Appendf(text, "%s_bucket{kind=%q,le=\"+Inf\"} %d\n", name, kind, h.count)
		text = fmt.Appendf(text, "%s_sum{kind=%q} %g\n%s_count{kind=%q} %d\n",
			name, kind, h.sum, name, kind, h.count)
	}
	return text
}
