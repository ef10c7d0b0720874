package latency

import (
	"os"
	"strings"
	"testing"
)

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

// The graphs are from redis-server.
func TestAGraphIsThatOfRedis(t *testing.T) {
	var s Events
	for i, ms := range []int64{3, 10, 20, 30, 40} {
		s.Add("command", Spike{int64(i), ms})
	}
	want := "command - high 40 ms, low 3 ms (all time high 40 ms)\n" + strings.Repeat("-", 80) + `
    #
   #|
  #||
_#|||
     
54321
sssss
`
	if got := s.Find("command").Graph(5); got != want {
		t.Errorf("the graph is\n%s", got)
	}
}

func TestAGraphOfManySpikesHasSeveralParts(t *testing.T) {
	want, err := os.ReadFile("testdata/graph.txt")
	if err != nil {
		t.Fatal(err)
	}
	var s Events
	s.Add("command", Spike{-1026, 3})
	s.Add("command", Spike{-1024, 1500})
	for i := int64(-84); i < -2; i++ {
		s.Add("command", Spike{i + 1, (i+85)%9 + 1})
	}
	if got := s.Find("command").Graph(0); got != strings.ReplaceAll(string(want), "$\n", "\n") {
		t.Errorf("the graph is\n%s", got)
	}
}

func TestAnAgeHasOneUnit(t *testing.T) {
	for seconds, want := range map[int64]string{0: "0s", 59: "59s", 60: "1m", 3599: "59m", 3600: "1h",
		86399: "23h", 86400: "1d", 8640000: "100d"} {
		if got := age(seconds); got != want {
			t.Errorf("%d seconds are shown as %s", seconds, got)
		}
	}
}
