// Package otel reports the events of locks to OpenTelemetry: spans for waiting and
// holding, a counter of events, and histograms.
package otel

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/lockredis/lockredis/rlock"
)

// scope is the instrumentation scope of the spans and metrics.
const scope = "github.com/lockredis/lockredis/examples/otel"

// Telemetry reports the events of lock clients. Spans have the lock's name. Metrics
// have only its kind, because there may be too many names.
type Telemetry struct {
	tracer trace.Tracer
	events metric.Int64Counter
	waits  metric.Float64Histogram
	holds  metric.Float64Histogram
}

// New creates the instruments. A program usually passes otel.GetTracerProvider() and
// otel.GetMeterProvider().
func New(tp trace.TracerProvider, mp metric.MeterProvider) (*Telemetry, error) {
	meter := mp.Meter(scope)
	buckets := metric.WithExplicitBucketBoundaries(0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 60)
	events, err1 := meter.Int64Counter("rlock.events", metric.WithUnit("{event}"),
		metric.WithDescription("Events of locks"))
	waits, err2 := meter.Float64Histogram("rlock.wait", metric.WithUnit("s"), buckets,
		metric.WithDescription("Time from the call to the acquisition of a lock, or to its failure"))
	holds, err3 := meter.Float64Histogram("rlock.hold", metric.WithUnit("s"), buckets,
		metric.WithDescription("Time from the acquisition to the release or loss of a lock"))
	t := &Telemetry{tp.Tracer(scope), events, waits, holds}
	return t, errors.Join(err1, err2, err3)
}

// Observer returns an observer for rlock.Options. Its functions hand spans to the
// tracer provider and do not wait for an exporter, so they never delay a lock. Many
// clients may share the observer.
//
// The spans are children of the span in the context of the acquisition.
func (t *Telemetry) Observer() rlock.Observer {
	return rlock.Observer{
		Acquired:      t.waited("acquired"),
		Contended:     t.noted("contended"),
		TimedOut:      t.waited("timed_out"),
		Failed:        t.waited("failed"),
		Renewed:       t.noted("renewed"),
		RenewalFailed: t.noted("renewal_failed"),
		Lost:          t.held("lost"),
		Released:      t.held("released"),
		GaveUp:        t.gaveUp,
	}
}

// waited returns a function for an event at the end of a wait.
func (t *Telemetry) waited(event string) func(context.Context, rlock.Event) {
	return func(ctx context.Context, e rlock.Event) {
		t.count(ctx, event, e)
		t.waits.Record(ctx, e.Waited.Seconds(), metric.WithAttributes(kind(e), result(event)))
		t.span(ctx, "rlock wait", event, e.Waited, e)
	}
}

// held returns a function for an event at the end of a hold.
func (t *Telemetry) held(event string) func(context.Context, rlock.Event) {
	return func(ctx context.Context, e rlock.Event) {
		t.count(ctx, event, e)
		t.holds.Record(ctx, e.Held.Seconds(), metric.WithAttributes(kind(e), result(event)))
		t.span(ctx, "rlock hold", event, e.Held, e)
	}
}

// noted returns a function that counts an event and adds it to the caller's span. A span
// that has ended ignores it.
func (t *Telemetry) noted(event string) func(context.Context, rlock.Event) {
	return func(ctx context.Context, e rlock.Event) {
		t.count(ctx, event, e)
		with := attributes(event, e)
		if e.Err != nil {
			with = append(with, attribute.String("error.message", e.Err.Error()))
		}
		trace.SpanFromContext(ctx).AddEvent("rlock "+event, trace.WithAttributes(with...))
	}
}

func (t *Telemetry) gaveUp(ctx context.Context, e rlock.Event) {
	t.count(ctx, "gave_up", e)
	t.span(ctx, "rlock give up", "gave_up", 0, e)
}

func (t *Telemetry) count(ctx context.Context, event string, e rlock.Event) {
	t.events.Add(ctx, 1, metric.WithAttributes(kind(e), result(event)))
}

// span reports a span that took d and ends now. If the event has an error, the span has
// the status Error.
func (t *Telemetry) span(
	ctx context.Context, name, event string, d time.Duration, e rlock.Event,
) {
	now := time.Now()
	_, span := t.tracer.Start(ctx, name, trace.WithTimestamp(now.Add(-d)),
		trace.WithAttributes(attributes(event, e)...))
	if e.Err != nil {
		span.RecordError(e.Err, trace.WithTimestamp(now))
		span.SetStatus(codes.Error, e.Err.Error())
	}
	span.End(trace.WithTimestamp(now))
}

func kind(e rlock.Event) attribute.KeyValue { return attribute.String("rlock.kind", e.Kind) }

func result(event string) attribute.KeyValue { return attribute.String("rlock.event", event) }

func attributes(event string, e rlock.Event) []attribute.KeyValue {
	return []attribute.KeyValue{kind(e), result(event),
		attribute.String("rlock.name", e.Name), attribute.String("rlock.owner", e.Owner)}
}
