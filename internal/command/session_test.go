package command

import "testing"

func TestASessionNeverGoesBackFromItsEnd(t *testing.T) {
	live := []Lifecycle{Ready, Waiting, Postponed}
	ends := []Lifecycle{Closing, Failed, Gone}
	for _, from := range append(live, ends...) {
		for _, to := range append(live, ends...) {
			var s Session
			s.Move(from)
			s.Move(to)
			want := to
			if !from.Live() && to < from {
				want = from
			}
			if got := s.State(); got != want {
				t.Errorf("from %d to %d: %d", from, to, got)
			}
		}
	}
}
