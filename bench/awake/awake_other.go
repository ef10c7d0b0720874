//go:build !linux

package awake

// Keep does nothing on this system.
func Keep() (stop func(), err error) { return func() {}, nil }

// SpinIfAsked does nothing on this system.
func SpinIfAsked() {}
