package rlock

import (
	"context"
	"runtime"
	"strings"
)

// requireContext panics if ctx is nil. Each public function with a context calls it before it
// changes anything, or calls ask or change, which do.
func requireContext(ctx context.Context) { require("ctx", ctx != nil) }

// require panics if an argument was not given: it is nil. The text names the public function
// that the program called.
func require(argument string, given bool) {
	if !given {
		panic("rlock: " + calledFunction() + ": " + argument + " is nil")
	}
}

// calledFunction returns the name of the public function under which this goroutine runs: the
// last function of this package before the first one of another package.
func calledFunction() (name string) {
	callers := make([]uintptr, 16)
	frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers)])
	frame, more := frames.Next() // of this function
	prefix := strings.TrimSuffix(frame.Function, "calledFunction")
	for more {
		frame, more = frames.Next()
		function, ours := strings.CutPrefix(frame.Function, prefix)
		if !ours {
			break
		}
		name = function
	}
	return strings.NewReplacer("(*", "", ")", "").Replace(name)
}
