package main

import (
	"runtime"
	"testing"

	"github.com/lockredis/lockredis/internal/redistest"
)

// A road that has become longer is shortened, or its limit is raised with a reason.
func TestARequestEntersFewFunctions(t *testing.T) {
	redistest.SkipUnlessWhole(t)
	redistest.SkipUnderRaceDetector(t)
	if runtime.GOOS != "linux" || runtime.GOMAXPROCS(0) < 2 {
		t.Skip("without an event loop a connection takes another road")
	}
	t.Chdir("../..")
	dir := t.TempDir()
	program, err := build(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range roads {
		visits, err := r.visits(program, dir)
		if err != nil {
			t.Fatalf("%s: %v", r.name, err)
		}
		if len(visits) > r.most {
			t.Errorf("%s enters %d functions, the limit is %d: make road lists them", r.name, len(visits), r.most)
		}
	}
}
