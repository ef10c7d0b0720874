package fault

import "testing"

func TestARuleHitsFromTheNthItemOn(t *testing.T) {
	for _, c := range []struct {
		nth, times int
		want       string // of six items
	}{
		{0, 0, "x....."}, {1, 1, "x....."}, {3, 0, "..x..."}, {3, 2, "..xx.."}, {0, 4, "xxxx.."},
		{0, Always, "xxxxxx"}, {5, Always, "....xx"},
	} {
		hits := 0
		r := Rule{Nth: c.nth, Times: c.times, OnHit: func() { hits++ }}
		got, want := "", 0
		for range 6 {
			if r.Turn() {
				got += "x"
				want++
			} else {
				got += "."
			}
		}
		if got != c.want || hits != want {
			t.Errorf("nth %d, times %d: %s, %d calls of OnHit; want %s", c.nth, c.times, got, hits, c.want)
		}
	}
}

func TestANameMeansACommandAndItsSubcommands(t *testing.T) {
	for _, c := range []struct {
		name, want string
		means      bool
	}{
		{"get", "GET", true}, {"getset", "get", false}, {"get", "getset", false},
		{"client|list", "client", true}, {"client|list", "CLIENT LIST", true},
		{"client|list", "client|list", true}, {"client|list", "client|li", false},
	} {
		if Named(c.name, c.want) != c.means {
			t.Errorf("%q means %q: %v", c.want, c.name, !c.means)
		}
	}
}

func TestEachKindHasItsPhase(t *testing.T) {
	for kind, want := range map[Kind]Phase{
		LoseRequest: OnRequest, DelayRequest: OnRequest, FailRequest: OnRequest,
		LoseReply: OnReply, Mute: OnReply, DelayReply: OnReply, DuplicateReply: OnReply,
		DropMessage: OnMessage, DelayMessage: OnMessage,
	} {
		if got := kind.Phase(); got != want {
			t.Errorf("kind %d: phase %d, want %d", kind, got, want)
		}
	}
}
