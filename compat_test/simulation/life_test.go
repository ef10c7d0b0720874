package simulation

import (
	"fmt"
	"log/slog"
	"testing"
)

func TestARepeatedReleaseIsAnsweredFromItsLatchWhileTheLatchLives(t *testing.T) {
	for _, c := range []struct {
		kind    lockKind
		counted bool
		lives   int64
	}{
		{plain, false, shortCallTime}, {fenced, false, shortCallTime},
		{plain, true, latchTime}, {fenced, true, latchTime}, {spin, false, latchTime},
		{fair, false, latchTime}, {readWrite, false, latchTime},
	} {
		t.Run(fmt.Sprint(c.kind, ", counted: ", c.counted), func(t *testing.T) {
			defer func() {
				if broken := recover(); broken != nil {
					t.Fatal(broken)
				}
			}()
			w := newWorld(scriptsOfRlock(), slog.New(slog.DiscardHandler))
			defer w.close()
			h := w.newLocker(w.newLock(c.kind)).holds[0]
			h.counted = c.counted
			h.flight = &flight{} // its client waits for a reply, so the client's view is not checked
			k := &claim{latch: h.l.latch()}
			// The model checks each reply too.
			release := func(after int64, want any) {
				t.Helper()
				w.pass(after)
				if got := w.execute(h.c.cmd, h.releaseCall(k, false, 1000)); got != want {
					t.Errorf("the release answers %v after %d ms more, want %v", got, after, want)
				}
			}
			w.execute(h.c.cmd, h.acquireCall(k, 1000, false, copyFirst))
			release(0, int64(1))
			release(c.lives-1, int64(1))
			release(1, int64(-1))
		})
	}
}
