//go:build !linux

package awake

// Keep does nothing here.
func Keep() (stop func(), err error) { return func() {}, nil }

// SpinIfAsked does nothing here.
func SpinIfAsked() {}
