package stall

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// late makes the meter's next pulse come d after the last one.
func (m *Meter) late(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last = m.last.Add(-d)
}

func TestAStallIsMeasured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := Watch(t)
		time.Sleep(time.Second)
		begin := time.Now()
		if all, longest := m.Since(begin.Add(-time.Second)), m.Longest(begin.Add(-time.Second)); all != 0 ||
			longest != 0 {
			t.Errorf("without a stall: %v, %v", all, longest)
		}
		synctest.Wait()
		m.late(time.Second)
		time.Sleep(time.Minute)
		if d := m.Since(begin.Add(-time.Hour)); d < time.Second-2*pulse || d > time.Second+pulse {
			t.Errorf("a stall of a second is measured as %v", d)
		}
		if d := m.Longest(begin.Add(-time.Hour)); d < time.Second-2*pulse || d > time.Second+pulse {
			t.Errorf("the longest stall is %v", d)
		}
		if d := m.Since(begin.Add(-300 * time.Millisecond)); d < 300*time.Millisecond ||
			d > 300*time.Millisecond+2*pulse {
			t.Errorf("since the middle of the stall: %v", d)
		}
		if d := m.Running(); d < time.Minute-pulse || d > time.Minute+3*pulse {
			t.Errorf("the process ran for %v", d)
		}
		if all, longest := m.Since(time.Now()), m.Longest(time.Now()); all != 0 || longest != 0 {
			t.Errorf("after the stall: %v, %v", all, longest)
		}
	})
}

func TestOnlyAStallIsAReasonToRunAgain(t *testing.T) {
	lost := errors.New("a lease has ended")
	for stalls, want := range map[int]int{0: 1, 1: 2, 2: 3} {
		synctest.Test(t, func(t *testing.T) {
			m, runs := Watch(t), 0
			err := m.retry(time.Second, func() error {
				time.Sleep(2 * time.Second)
				if runs++; runs <= stalls {
					for range 2 { // both together are long enough
						synctest.Wait()
						m.late(600 * time.Millisecond)
						time.Sleep(pulse)
					}
				}
				return lost
			})
			if runs != want || !errors.Is(err, lost) {
				t.Errorf("%d stalls: %d runs, %v", stalls, runs, err)
			}
		})
	}
	runs := 0
	Undisturbed(t, 0, func() error {
		if runs++; runs < 3 {
			return lost
		}
		return nil
	})
	if runs != 3 {
		t.Errorf("%d runs", runs)
	}
}
