package simulation

import (
	"log/slog"
	"testing"
)

func TestARepeatedReleaseIsAnsweredFromItsLatchWhileTheLatchLives(t *testing.T) {
	for _, c := range []struct {
		kind  lockKind
		lives int64
	}{
		{plain, shortCallTime}, {fenced, shortCallTime}, {spin, latchTime},
		{fair, latchTime}, {readWrite, latchTime},
	} {
		t.Run(c.kind.String(), func(t *testing.T) {
			defer func() {
				if broken := recover(); broken != nil {
					t.Fatal(broken)
				}
			}()
			w := newWorld(scriptsOfRlock(), slog.New(slog.DiscardHandler))
			defer w.close()
			h := w.newLocker(w.newLock(c.kind)).holds[0]
			h.flight = &flight{} // its client waits for a reply, so the client's view is not checked
			k := &claim{latch: h.l.latch()}
			// The model checks each reply too.
			release := func(after int64, want any) {
				t.Helper()
				w.pass(after)
				if got := w.execute(h.c.cmd, h.releaseCall(k)); got != want {
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
