package faults

import (
	"testing"
	"time"
)

// ms returns a grant of one name; times are in ms.
func ms(asked, from, to int) grant {
	at := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	return grant{name: "orders", n: 1, asked: at(asked), from: at(from), to: at(to)}
}

func TestTheCheckerFindsEachViolation(t *testing.T) {
	at := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	waits := func(from, to int) []waiting {
		return []waiting{{name: "orders", from: at(from), to: at(to), patient: true}}
	}
	shared := func(g grant) grant { g.shared = true; return g }
	lost := func(g grant) grant { g.lost = true; return g }
	closing := func(from int) []event { return []event{{what: shutDown, from: at(from), to: at(from + 1)}} }
	token := func(n int64, g grant) grant { g.token = n; return g }
	queued := func(n int, g grant) grant { g.contended = at(n); return g }
	restart := []event{{what: "restart", process: -1, from: at(50), to: at(60), loss: true}}
	lease := rules{lease: 2 * time.Second, free: 2500 * time.Millisecond}
	tests := map[string]struct {
		r    *record
		of   rules
		want string // the broken rule; "": none
	}{
		"holds in turn": {&record{grants: []grant{ms(0, 1, 5), ms(2, 5, 9)}}, lease, ""},
		"two holds overlap": {&record{grants: []grant{ms(0, 1, 5), ms(2, 4, 9)}},
			lease, "overlap"},
		"a hold inside of one": {&record{grants: []grant{ms(0, 1, 9), ms(2, 4, 5), ms(2, 6, 7)}},
			lease, "overlap"},
		"two readers": {&record{grants: []grant{shared(ms(0, 1, 5)), shared(ms(2, 4, 9))}},
			lease, ""},
		"a reader and a writer": {&record{grants: []grant{shared(ms(0, 1, 5)), ms(2, 4, 9)}},
			lease, "overlap"},
		"an overlap after loss": {&record{grants: []grant{ms(0, 1, 900), ms(2, 90, 99)},
			events: restart}, lease, ""},
		"a long one after loss": {&record{grants: []grant{ms(0, 1, 2900), ms(2, 90, 2000)},
			events: restart}, lease, "overlap"},
		"late by a shutdown": {&record{grants: []grant{lost(ms(0, 1, 5)), ms(2, 4, 9)},
			events: closing(3)}, lease, ""},
		"before a shutdown": {&record{grants: []grant{lost(ms(0, 1, 5)), ms(2, 2, 9)},
			events: closing(3)}, lease, "overlap"},
		"long after a shutdown": {&record{grants: []grant{lost(ms(0, 1, 500)), ms(2, 4, 900)},
			events: closing(3)}, lease, "overlap"},
		"free without a waiter": {&record{grants: []grant{ms(0, 1, 5), ms(5000, 5001, 5002)},
			waits: waits(4999, 5001)}, lease, ""},
		"free with a waiter": {&record{grants: []grant{ms(0, 1, 5), ms(2, 2600, 2700)},
			waits: waits(2, 2600)}, lease, "free"},
		"free for a lease": {&record{grants: []grant{ms(0, 1, 5), ms(2, 2400, 2700)},
			waits: waits(2, 2400)}, lease, ""},
		"free in a fault": {&record{grants: []grant{ms(0, 1, 5), ms(2, 2600, 2700)},
			waits: waits(2, 2600), events: restart}, lease, ""},
		"too many permits": {&record{grants: []grant{ms(0, 1, 5), ms(2, 4, 9)}},
			rules{capacity: 1}, "permits"},
		"enough permits": {&record{grants: []grant{ms(0, 1, 5), ms(2, 4, 9)}},
			rules{capacity: 2}, ""},
		"tokens increase": {&record{grants: []grant{token(1, ms(0, 1, 5)), token(2, ms(2, 5, 9))}},
			rules{tokens: true}, ""},
		"a token repeats": {&record{grants: []grant{token(2, ms(0, 1, 5)), token(2, ms(2, 5, 9))}},
			rules{tokens: true}, "token"},
		"served in order": {&record{grants: []grant{queued(2, ms(1, 8, 9)), queued(5, ms(4, 10, 12))}},
			rules{fair: time.Second}, ""},
		"served out of order": {&record{grants: []grant{queued(2, ms(1, 10, 12)), queued(5, ms(4, 8, 9))}},
			rules{fair: time.Second}, "order"},
		"the checker's own rule": {&record{faulty: []violation{{rule: "call"}}}, lease, "call"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			v := test.r.check(test.of)
			got := ""
			if len(v.violations) > 0 {
				got = v.violations[0].rule
			}
			if got != test.want {
				t.Errorf("broken rule %q, not %q: %v", got, test.want, v.violations)
			}
		})
	}
}
