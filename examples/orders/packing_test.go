package main

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockredis/lockredis/lockredistest"
	"github.com/lockredis/lockredis/rlock"
)

func TestAnOpenOrderCannotBeShipped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := lockredistest.RunT(t)
		orders := process(t, srv, nothing)
		station := &Packing{locks: client(t, srv, rlock.Options{})}
		must(t, station.Open(t.Context(), "42"))
		if err := orders.Ship(t.Context(), "42"); !errors.Is(err, rlock.ErrTimeout) {
			t.Fatal(err)
		}
		for range 10 {
			time.Sleep(time.Minute)
			must(t, station.Scan(t.Context(), "42"))
		}
		if err := orders.Ship(t.Context(), "42"); !errors.Is(err, rlock.ErrTimeout) {
			t.Fatal(err)
		}
		must(t, station.Done(t.Context(), "42"))
		must(t, orders.Ship(t.Context(), "42"))
	})
}

func TestAnOrderIsOpenAtOneStation(t *testing.T) {
	srv := lockredistest.RunT(t)
	first := &Packing{locks: client(t, srv, rlock.Options{})}
	second := &Packing{locks: client(t, srv, rlock.Options{})}
	must(t, first.Open(t.Context(), "42"))
	for _, station := range []*Packing{first, second} {
		if err := station.Open(t.Context(), "42"); !errors.Is(err, rlock.ErrTimeout) {
			t.Fatal(err)
		}
	}
	if err := second.Scan(t.Context(), "42"); !errors.Is(err, ErrNotOpen) {
		t.Fatal(err)
	}
	must(t, first.Done(t.Context(), "42"))
	must(t, second.Open(t.Context(), "42"))
	must(t, second.Done(t.Context(), "42"))
}

func TestAStationThatIsLeftAloneLosesItsOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := lockredistest.RunT(t)
		left := &Packing{locks: client(t, srv, rlock.Options{})}
		must(t, left.Open(t.Context(), "42"))
		time.Sleep(packingTime)
		if err := left.Scan(t.Context(), "42"); !errors.Is(err, ErrNotOpen) {
			t.Fatal(err)
		}
		must(t, process(t, srv, nothing).Ship(t.Context(), "42"))
		if err := left.Done(t.Context(), "42"); !errors.Is(err, ErrNotOpen) {
			t.Fatal(err)
		}
	})
}

func TestOpenOrdersAreUnlockedAtShutdown(t *testing.T) {
	srv := lockredistest.RunT(t) // fails the test if a lock is left behind
	locks := client(t, srv, rlock.Options{UnlockOnClose: true})
	must(t, (&Packing{locks: locks}).Open(t.Context(), "42"))
	must(t, locks.Close(t.Context()))
}
