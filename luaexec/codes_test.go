package luaexec

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockredis/lockredis/internal/redistest"
)

// textOf returns a script that returns n.
func textOf(n int) string { return fmt.Sprintf("return %d + 0", n) }

func TestTheCodeOfManyScriptsIsDroppedAndCompiledAgain(t *testing.T) {
	redistest.SkipUnlessWhole(t)
	r := New(Options{})
	const scripts = 80_000
	busy, first := "return 'busy'", mustLoad(t, r, textOf(0))
	for n := range scripts {
		if got, want := answers(r, textOf(n)), fmt.Sprintf(":%d\r\n", n); got != want {
			t.Fatalf("script %d: %q, want %q", n, got, want)
		}
		if n%100 == 0 {
			answers(r, busy)
		}
	}
	if r.Len() != scripts+1 || r.codes.bytes > mostCode || r.codes.bytes < mostCode/2 {
		t.Errorf("%d scripts are cached, with %d bytes of code", r.Len(), r.codes.bytes)
	}
	if first.proto != nil || first.fn != nil {
		t.Error("the code of the first script was kept")
	}
	if s := mustLoad(t, r, busy); s.proto == nil {
		t.Error("the code of a script that runs often was dropped")
	}
	for _, turn := range []string{"again", "after the state was dropped"} {
		for n := 0; n < scripts; n += 997 {
			if got, want := answers(r, textOf(n)), fmt.Sprintf(":%d\r\n", n); got != want {
				t.Errorf("%s: script %d: %q, want %q", turn, n, got, want)
			}
		}
		r.dropMachine()
	}
	sum := 0
	for _, s := range r.codes.ring {
		if s.proto == nil {
			t.Fatal("a script without code is in the ring")
		}
		sum += s.bytes
	}
	if sum != r.codes.bytes {
		t.Errorf("the code takes %d bytes, counted as %d", sum, r.codes.bytes)
	}
}

func TestErrorsOfAScriptThatIsCompiledAgainAreTheSame(t *testing.T) {
	redistest.SkipUnlessWhole(t)
	redistest.SkipUnderRaceDetector(t)
	r := New(Options{})
	large := "return #'" + strings.Repeat("x", mostCode+1) + "'"
	failing := "\n\nerror('no')"
	before := answers(r, failing)
	rounds := 1
	if redistest.Whole() {
		rounds = 3
	}
	for range rounds {
		if got := answers(r, large); got != fmt.Sprintf(":%d\r\n", mostCode+1) {
			t.Fatal(got)
		}
		for n := range 10_000 {
			mustLoad(t, r, textOf(n))
		}
		if got := answers(r, failing); got != before {
			t.Errorf("%q, at first %q", got, before)
		}
	}
}
