// Package check runs the checks of one client and prints their outcomes in the form that
// ../../README.md describes.
package check

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
	"strings"
	"time"
)

// limit ends a check that waits for a reply that never comes.
const limit = 30 * time.Second

// Client is one client library.
type Client struct {
	name, version string
}

// New returns the client whose library is a Go module of this program.
func New(name, module string) *Client {
	info, _ := debug.ReadBuildInfo() // nil only without module support
	for _, dependency := range info.Deps {
		if dependency.Path == module {
			return &Client{name, strings.TrimPrefix(dependency.Version, "v")}
		}
	}
	panic("no module " + module)
}

// T is what a check gets. Its methods end the check when they find a difference.
type T struct {
	context.Context // ends after the limit
	cleanups        []func()
}

// failure ends a check.
type failure string

// Run runs a check and prints its outcome.
func (c *Client) Run(name string, f func(t *T)) {
	outcome, reason := "ok", ""
	if err := try(f); err != nil {
		outcome, reason = "FAIL", "\t"+strings.Join(strings.Fields(err.Error()), " ")
	}
	fmt.Printf("%s\t%s\t%s\t%s%s\n", c.name, c.version, outcome, name, reason)
}

// try runs f in a goroutine of its own, which is left behind when it does not end.
func try(f func(t *T)) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		t := &T{Context: ctx}
		defer func() { done <- outcome(recover()) }()
		defer func() {
			for _, cleanup := range t.cleanups {
				cleanup()
			}
		}()
		f(t)
	}()
	select {
	case err := <-done:
		return err
	case <-time.After(limit + time.Second):
		return fmt.Errorf("not done within %s", limit)
	}
}

// outcome returns the error of a check that ended with what recover returned.
func outcome(recovered any) error {
	switch recovered := recovered.(type) {
	case nil:
		return nil
	case failure:
		return errors.New(string(recovered))
	default:
		return fmt.Errorf("panic: %v %s", recovered, debug.Stack())
	}
}

// Cleanup calls f when the check has ended.
func (t *T) Cleanup(f func()) { t.cleanups = append(t.cleanups, f) }

// Fail ends the check.
func (t *T) Fail(format string, args ...any) { panic(failure(fmt.Sprintf(format, args...))) }

// OK ends the check if err is not nil.
func (t *T) OK(err error) {
	if err != nil {
		t.Fail("%s: %v", caller(), err)
	}
}

// Equal ends the check if the values differ.
func (t *T) Equal(got, want any) {
	if !reflect.DeepEqual(got, want) {
		t.Fail("%s: got %#v, want %#v", caller(), got, want)
	}
}

// True ends the check if the condition does not hold.
func (t *T) True(condition bool, about string) {
	if !condition {
		t.Fail("%s: not true: %s", caller(), about)
	}
}

// Is ends the check if the error is not target.
func (t *T) Is(err, target error) {
	if !errors.Is(err, target) {
		t.Fail("%s: got error %v, want %v", caller(), err, target)
	}
}

// Says ends the check if the error's text does not have the prefix.
func (t *T) Says(err error, prefix string) {
	if err == nil || !strings.HasPrefix(err.Error(), prefix) {
		t.Fail("%s: got error %v, want %s …", caller(), err, prefix)
	}
}

// Await waits until the condition holds.
func (t *T) Await(about string, condition func() bool) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-tick.C:
		case <-t.Done():
			t.Fail("%s: waits for %s", caller(), about)
		}
	}
}

// Receive returns the next value of a channel.
func Receive[V any](t *T, channel <-chan V) (value V) {
	select {
	case value = <-channel:
	case <-t.Done():
		t.Fail("%s: nothing comes", caller())
	}
	return value
}

// Must returns the value, and ends the check if there is an error.
func Must[V any](t *T) func(value V, err error) V {
	return func(value V, err error) V {
		t.OK(err)
		return value
	}
}
