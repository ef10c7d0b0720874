package rlock

import (
	"context"
	"log/slog"
	"time"
)

// Observer receives the events of a Client's locks. Each function may be nil. It gets
// the context of the acquisition, even after that context has ended. The functions
// run on the goroutines of callers and of the watchdog, so they must not block or
// use the lock. A panic on a caller's goroutine reaches the caller, after the acquisition is
// undone; one on another goroutine ends the process.
type Observer struct {
	Acquired  func(context.Context, Event) // Waited is the time since the call
	Contended func(context.Context, Event) // another owner holds it: the caller begins to wait
	TimedOut  func(context.Context, Event) // the time of Wait is over; Waited and Err
	Failed    func(context.Context, Event) // the acquisition failed otherwise; Waited and Err

	Renewed       func(context.Context, Event) // Held is the time since the acquisition
	RenewalFailed func(context.Context, Event) // Held and Err; retried until the lease ends
	Lost          func(context.Context, Event) // Held, and Err with the reason
	Released      func(context.Context, Event) // Held is the time since the acquisition

	// GaveUp: the server did not answer a release, or the undo of an acquisition, in
	// time, or refused it. The lock stays on the server until it expires. Err has the
	// reason.
	GaveUp func(context.Context, Event)
}

// Event is one event of one lock.
type Event struct {
	Kind  string // "lock", "fair", "read", "write", "spin", "fenced", "permit", …
	Name  string
	Owner string // Redisson's "id:threadId"; "" for kinds without owners

	Waited time.Duration
	Held   time.Duration
	Err    error
}

// notify calls f, which may be nil, with an event of a claim.
func notify(ctx context.Context, f func(context.Context, Event), k claim, e Event) {
	if f == nil {
		return
	}
	of := k.event()
	e.Kind, e.Name, e.Owner = of.Kind, of.Name, of.Owner
	f(ctx, e)
}

// LogTo returns an Observer that logs to l. Lost and GaveUp are errors, Failed and
// RenewalFailed are warnings, and all other events are debug messages. LogTo panics if l is nil.
func LogTo(l *slog.Logger) Observer {
	require("l", l != nil)
	log := func(level slog.Level, text string) func(context.Context, Event) {
		return func(ctx context.Context, e Event) {
			if l.Enabled(ctx, level) {
				l.LogAttrs(ctx, level, text, e.attrs()...)
			}
		}
	}
	return Observer{
		Acquired:      log(slog.LevelDebug, "lock acquired"),
		Contended:     log(slog.LevelDebug, "lock is held, waiting"),
		TimedOut:      log(slog.LevelDebug, "lock not acquired in time"),
		Failed:        log(slog.LevelWarn, "lock not acquired"),
		Renewed:       log(slog.LevelDebug, "lock renewed"),
		RenewalFailed: log(slog.LevelWarn, "lock not renewed"),
		Lost:          log(slog.LevelError, "lock lost"),
		Released:      log(slog.LevelDebug, "lock released"),
		GaveUp:        log(slog.LevelError, "lock not released"),
	}
}

func (e Event) attrs() []slog.Attr {
	attrs := []slog.Attr{slog.String("kind", e.Kind), slog.String("name", e.Name)}
	if e.Owner != "" {
		attrs = append(attrs, slog.String("owner", e.Owner))
	}
	if e.Waited > 0 {
		attrs = append(attrs, slog.Duration("waited", e.Waited))
	}
	if e.Held > 0 {
		attrs = append(attrs, slog.Duration("held", e.Held))
	}
	if e.Err != nil {
		attrs = append(attrs, slog.Any("error", e.Err))
	}
	return attrs
}

// Observers returns an Observer that passes each event to all given observers, in order.
func Observers(all ...Observer) Observer {
	var o Observer
	for _, next := range all {
		o.Acquired = both(o.Acquired, next.Acquired)
		o.Contended = both(o.Contended, next.Contended)
		o.TimedOut = both(o.TimedOut, next.TimedOut)
		o.Failed = both(o.Failed, next.Failed)
		o.Renewed = both(o.Renewed, next.Renewed)
		o.RenewalFailed = both(o.RenewalFailed, next.RenewalFailed)
		o.Lost = both(o.Lost, next.Lost)
		o.Released = both(o.Released, next.Released)
		o.GaveUp = both(o.GaveUp, next.GaveUp)
	}
	return o
}

func both(f, g func(context.Context, Event)) func(context.Context, Event) {
	switch {
	case f == nil:
		return g
	case g == nil:
		return f
	}
	return func(ctx context.Context, e Event) {
		f(ctx, e)
		g(ctx, e)
	}
}
