package main

import (
	"context"
	"testing"
	"time"
)

func TestADifferenceHasTheExtremesOfItsTenths(t *testing.T) {
	var a, b []time.Duration
	for i := range time.Duration(10) {
		b = append(b, 10*time.Microsecond, 10*time.Microsecond)
		a = append(a, (10+i)*time.Microsecond, (10+i)*time.Microsecond)
	}
	if got := differenceOf(a, b).String(); got != "+4.0 µs (0.0 to 9.0)" {
		t.Errorf("the difference is %s", got)
	}
	if got := differenceOf(b, a).String(); got != "-4.0 µs (-9.0 to 0.0)" {
		t.Errorf("the difference is %s", got)
	}
}

func TestEachTurnHasOnePairOfEachLibrary(t *testing.T) {
	var names []int
	racers := make([]racer, 3)
	for i := range racers {
		racers[i].ctx = t.Context()
		racers[i].c.lock = func(context.Context, string) (func(context.Context) error, error) {
			names = append(names, i)
			return func(context.Context) error { return nil }, nil
		}
	}
	if _, err := takeTurns(racers, 100); err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(names); n += 3 {
		var sum int
		for _, i := range names[n : n+3] {
			sum |= 1 << i
		}
		if sum != 0b111 {
			t.Fatalf("turn %d: libraries %v", n/3, names[n:n+3])
		}
	}
	if len(names) != 300 {
		t.Errorf("%d pairs", len(names))
	}
}
