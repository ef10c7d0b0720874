package command

import "testing"

func TestASampleStandsForTheCallsAfterIt(t *testing.T) {
	var s CallStats
	for range 100 {
		s.Calls++
		if s.Skip() {
			continue
		}
		s.Sampled(300, true)
		s.Took(300, true)
	}
	if micros := s.Micros(true); micros != 30 {
		t.Errorf("100 calls of 300 ns took %v µs", micros)
	}
	if n := s.Times(true).Total(); n != 100 {
		t.Errorf("%d calls have a duration", n)
	}
}

func TestALongCallStandsForItself(t *testing.T) {
	var s CallStats
	for range 10 {
		if s.Skip() {
			t.Fatal("the call after a long one is not measured")
		}
		s.Sampled(longestSample, true)
	}
}
