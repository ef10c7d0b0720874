package latency

import "testing"

func TestOfTwoSpikesInASecondTheLongerOneStays(t *testing.T) {
	var s Events
	for _, spike := range []Spike{{10, 5}, {10, 9}, {10, 7}, {11, 3}} {
		s.Add("command", spike)
	}
	e := s.Find("command")
	if len(e.Spikes) != 2 || e.Spikes[0] != (Spike{10, 9}) || e.Latest() != (Spike{11, 3}) || e.Longest != 9 {
		t.Errorf("the event is %+v", *e)
	}
}

func TestAnEventKeepsItsNewestSpikes(t *testing.T) {
	var s Events
	for i := range int64(1000) {
		s.Add("command", Spike{i, 1000 - i})
	}
	e := s.Find("command")
	if len(e.Spikes) != 160 || e.Spikes[0].Unix != 840 || e.Longest != 1000 {
		t.Errorf("%d spikes from %d on, the longest %d ms", len(e.Spikes), e.Spikes[0].Unix, e.Longest)
	}
}

func TestResetDropsOneEvent(t *testing.T) {
	var s Events
	s.Add("a", Spike{1, 1})
	s.Add("b", Spike{1, 1})
	if !s.Reset("a") || s.Reset("a") || len(s.All()) != 1 || s.All()[0].Name != "b" {
		t.Errorf("%d events are left", len(s.All()))
	}
}
