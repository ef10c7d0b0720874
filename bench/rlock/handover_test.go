package main

import (
	"context"
	"testing"
	"time"
)

func TestQuantileIsAMeasuredValue(t *testing.T) {
	d := []time.Duration{1, 2, 3, 4}
	for percent, want := range map[int]time.Duration{50: 2, 51: 3, 99: 4, 100: 4, 1: 1} {
		if got := quantile(d, percent); got != want {
			t.Errorf("%d %%: %v, not %v", percent, got, want)
		}
	}
}

func TestHandOverGoesToAnotherThanTheLastHolder(t *testing.T) {
	free := make(chan struct{}, 1)
	free <- struct{}{}
	c := client{lock: func(ctx context.Context, _ string) (func(context.Context) error, error) {
		select {
		case <-free:
			return func(context.Context) error { free <- struct{}{}; return nil }, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}}
	ctx, cancel := context.WithCancel(t.Context())
	p := &play{make(chan grant), make(chan time.Time, 1), make(chan error, 1)}
	ended := make(chan struct{})
	for range 3 {
		a := &actor{c, make(chan struct{}), make(chan struct{})}
		go func() { p.act(ctx, a); ended <- struct{}{} }()
	}
	last, err := p.granted()
	for range 100 {
		if err != nil {
			t.Fatal(err)
		}
		last.by.release <- struct{}{}
		var next grant
		if next, err = p.granted(); next.by == last.by {
			t.Fatal("the last holder has the lock again")
		}
		if began := <-p.unlocked; next.at.Before(began) {
			t.Fatal("granted before the unlock")
		}
		last.by.again <- struct{}{}
		last = next
	}
	cancel()
	for range 3 {
		<-ended
	}
	if len(free) != 1 {
		t.Fatal("the lock is left locked")
	}
}
