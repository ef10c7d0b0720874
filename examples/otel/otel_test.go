package otel

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/lockredis/lockredis/lockredistest"
	"github.com/lockredis/lockredis/rlock"
)

// records is what the SDK recorded.
type records struct {
	spans  *tracetest.SpanRecorder
	meter  *sdkmetric.ManualReader
	tracer trace.Tracer // of the program that locks
}

// locks returns a lock client that reports to records.
func locks(t *testing.T, srv *lockredistest.Server) (*rlock.Client, records) {
	spans, meter := tracetest.NewSpanRecorder(), sdkmetric.NewManualReader()
	tp := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
	r := records{spans, meter, tp.Tracer("test")}
	telemetry, err := New(tp, sdkmetric.NewMeterProvider(sdkmetric.WithReader(meter)))
	if err != nil {
		t.Fatal(err)
	}
	c := rlock.New(srv.Client(), rlock.Options{Observer: telemetry.Observer()})
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c, r
}

// counted returns the number of events of plain locks, by the event's name.
func (r records) counted(t *testing.T) map[string]int64 {
	var all metricdata.ResourceMetrics
	if err := r.meter.Collect(context.Background(), &all); err != nil {
		t.Fatal(err)
	}
	counts := map[string]int64{}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			sum, ok := m.Data.(metricdata.Sum[int64])
			if !ok {
				continue
			}
			for _, p := range sum.DataPoints {
				event, _ := p.Attributes.Value("rlock.event")
				if kind, _ := p.Attributes.Value("rlock.kind"); kind.AsString() == "lock" {
					counts[event.AsString()] = p.Value
				}
			}
		}
	}
	return counts
}

func TestALockHasASpanForTheWaitAndOneForTheHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, r := locks(t, lockredistest.RunT(t))
		ctx, parent := r.tracer.Start(t.Context(), "ship")
		err := c.Do(ctx, "orders:42", func(context.Context) error {
			time.Sleep(time.Minute)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		parent.End()
		spans := r.spans.Ended()
		if len(spans) != 3 || spans[0].Name() != "rlock wait" || spans[1].Name() != "rlock hold" {
			t.Fatalf("the spans are %v", spans)
		}
		if held := spans[1].EndTime().Sub(spans[1].StartTime()); held != time.Minute {
			t.Errorf("the hold's span takes %v", held)
		}
		for _, s := range spans[:2] {
			if s.Parent().SpanID() != parent.SpanContext().SpanID() {
				t.Errorf("%s is not a child of the caller's span", s.Name())
			}
			set := attribute.NewSet(s.Attributes()...)
			if name, _ := set.Value("rlock.name"); name.AsString() != "orders:42" {
				t.Errorf("%s is about the lock %q", s.Name(), name.AsString())
			}
			if s.Status().Code == codes.Error {
				t.Errorf("%s failed: %s", s.Name(), s.Status().Description)
			}
		}
		if events := spans[2].Events(); len(events) == 0 || events[0].Name != "rlock renewed" {
			t.Errorf("the caller's span has the events %v", events)
		}
		counts := r.counted(t)
		if counts["acquired"] != 1 || counts["released"] != 1 || counts["renewed"] == 0 {
			t.Errorf("counted %v", counts)
		}
	})
}

func TestTheSpanOfALostLockFailed(t *testing.T) {
	srv := lockredistest.RunT(t)
	c, r := locks(t, srv)
	err := c.Do(t.Context(), "l", func(context.Context) error {
		srv.Del("l")
		return nil
	})
	if !errors.Is(err, rlock.ErrLockLost) {
		t.Fatal(err)
	}
	spans := r.spans.Ended()
	last := spans[len(spans)-1]
	if last.Name() != "rlock hold" || last.Status().Code != codes.Error {
		t.Errorf("the last span is %s with status %v", last.Name(), last.Status())
	}
	if counts := r.counted(t); counts["lost"] != 1 || counts["released"] != 0 {
		t.Errorf("counted %v", counts)
	}
}

func TestAnAcquisitionThatTimesOutIsAWait(t *testing.T) {
	c, r := locks(t, lockredistest.RunT(t))
	err := c.Do(t.Context(), "l", func(context.Context) error {
		nothing := func(context.Context) error { return nil }
		return c.Do(context.Background(), "l", nothing, rlock.Wait(0))
	})
	if !errors.Is(err, rlock.ErrTimeout) {
		t.Fatal(err)
	}
	spans := r.spans.Ended()
	if len(spans) != 3 || spans[1].Name() != "rlock wait" {
		t.Fatalf("the spans are %v", spans)
	}
	set := attribute.NewSet(spans[1].Attributes()...)
	if event, _ := set.Value("rlock.event"); event.AsString() != "timed_out" {
		t.Errorf("the second wait %s", event.AsString())
	}
	if counts := r.counted(t); counts["timed_out"] != 1 || counts["acquired"] != 1 {
		t.Errorf("counted %v", counts)
	}
}
