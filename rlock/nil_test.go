package rlock_test

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/internal/rlocksuite"
	"github.com/lockredis/lockredis/rlock"
)

// mustPanic checks that f panics with a text.
func mustPanic(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if got := recover(); got != want {
			t.Errorf("the panic is %q, not %q", got, want)
		}
	}()
	f()
}

// receivers are values of all types whose methods take a context.
func receivers(t *testing.T, c *rlock.Client) []any {
	ctx := t.Context()
	f, p := c.FencedLock("f"), c.PermitSemaphore("p")
	must(t, p.SetPermits(ctx, 9))
	must(t, c.RateLimiter("r").SetRate(ctx, rlock.RateConfig{Rate: 9, Interval: time.Hour}))
	permits, err := p.Acquire(ctx, 1)
	must(t, err)
	fenced, err := f.Acquire(ctx)
	must(t, err)
	both, err := rlock.Multi(c.Lock("a"), c.Lock("b")).Acquire(ctx)
	must(t, err)
	return []any{
		c, c.Lock("l"), c.FairLock("q"), c.RWLock("w").Read(), f, p, c.Semaphore("s"), c.CountDownLatch("d"),
		c.RateLimiter("r"), rlock.Multi(c.Lock("a"), c.Lock("b")), rlock.Quorum(c.Lock("a")),
		acquire(t, c.Lock("h")), fenced, permits, both,
	}
}

// arguments returns arguments that a method accepts.
func arguments(method reflect.Type) (all []reflect.Value) {
	for i := range method.NumIn() {
		switch in := method.In(i); {
		case method.IsVariadic() && i == method.NumIn()-1 && in.Elem().Kind() != reflect.String:
		case in == reflect.TypeFor[context.Context]():
			all = append(all, reflect.ValueOf(context.Background()))
		case in == reflect.TypeFor[rlock.Option]():
			all = append(all, reflect.ValueOf(rlock.Lease(time.Minute)))
		case in == reflect.TypeFor[rlock.RateConfig]():
			all = append(all, reflect.ValueOf(rlock.RateConfig{Rate: 1, Interval: time.Second}))
		case in.Kind() == reflect.Func:
			all = append(all, reflect.MakeFunc(in, func([]reflect.Value) []reflect.Value {
				return []reflect.Value{reflect.Zero(reflect.TypeFor[error]())}
			}))
		case in.Kind() == reflect.String, in.Kind() == reflect.Slice:
			all = append(all, reflect.ValueOf(strings.Repeat("0", 32)))
		default: // a number
			all = append(all, reflect.ValueOf(1).Convert(in))
			if in == reflect.TypeFor[time.Duration]() {
				all[i] = reflect.ValueOf(time.Second)
			}
		}
	}
	return all
}

func TestANilContextOrFunctionPanicsBeforeAnythingChanges(t *testing.T) {
	rdb := connect(t)
	c := newClient(t, rdb, rlock.Options{})
	all := receivers(t, c)
	before := rlocksuite.Contents(t, rdb)
	tried := map[string]int{}
	for _, receiver := range all {
		v := reflect.ValueOf(receiver)
		for i := range v.NumMethod() {
			name, method := v.Type().Method(i).Name, v.Method(i)
			for n := range method.Type().NumIn() {
				in, argument := method.Type().In(n), "ctx"
				if in.Kind() == reflect.Func && in != reflect.TypeFor[rlock.Option]() {
					argument = "f"
				} else if in != reflect.TypeFor[context.Context]() {
					continue
				}
				typ := v.Type().Elem().Name()
				if strings.HasSuffix(typ, "Hold") {
					typ = "Hold" // the method of the embedded Hold
				}
				args := arguments(method.Type())
				args[n] = reflect.Zero(in)
				mustPanic(t, "rlock: "+typ+"."+name+": "+argument+" is nil", func() { method.Call(args) })
				tried[argument]++
			}
		}
	}
	if tried["ctx"] < 50 || tried["f"] < 9 {
		t.Errorf("arguments tried: %v", tried)
	}
	rlocksuite.MustHold(t, rdb, before)
	must(t, c.Do(t.Context(), "l", func(context.Context) error { return nil })) // it is not closed
	for _, receiver := range all {
		if h, ok := receiver.(interface{ Release(context.Context) error }); ok {
			must(t, h.Release(t.Context()))
		}
	}
}

func TestANilClientOrLoggerPanics(t *testing.T) {
	var rdb *redis.Client
	mustPanic(t, "rlock: New: rdb is nil", func() { rlock.New(nil, rlock.Options{}) })
	mustPanic(t, "rlock: New: rdb is nil", func() { rlock.New(rdb, rlock.Options{}) })
	mustPanic(t, "rlock: LogTo: l is nil", func() { rlock.LogTo(nil) })
}

func TestNilFunctionsOfAnObserverAreLeftOut(t *testing.T) {
	c := newClient(t, connect(t), rlock.Options{Observer: rlock.Observers(rlock.Observer{}, rlock.Observer{})})
	must(t, c.Do(t.Context(), "l", func(context.Context) error { return nil }))
}
