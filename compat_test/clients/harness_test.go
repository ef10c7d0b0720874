//go:build unix

package clients

import (
	"slices"
	"strings"
	"testing"
)

// fine returns a client's checks that are enough.
func fine(client string) (checks []check) {
	for i := range fewestChecks {
		checks = append(checks, check{client, "1.0", outcomeOK, string(rune('a' + i)), ""})
	}
	return checks
}

func TestEqualChecksRaiseNoComplaint(t *testing.T) {
	if complaints := judge(fine("one"), fine("one")); complaints != nil {
		t.Error(complaints)
	}
}

func TestTheJudgeComplains(t *testing.T) {
	extra := func(outcome string) []check {
		return append(fine("one"), check{"one", "1.0", outcome, "extra", "a reason"})
	}
	for _, test := range []struct {
		about            string
		lockredis, redis []check
		want             string
	}{
		{"a failure on lockredis", extra("FAIL"), extra("ok"), "FAIL on lockredis (a reason)"},
		{"a failure on redis-server", extra("ok"), extra("FAIL"), "FAIL on redis-server"},
		{"a failure on both", extra("FAIL"), extra("FAIL"), "FAIL on both"},
		{"a check skipped on one", extra("skip"), extra("ok"), "skip on lockredis"},
		{"a check on lockredis only", extra("ok"), fine("one"), "only on lockredis"},
		{"a check on redis-server only", fine("one"), extra("ok"), "only on redis-server"},
		{"a name twice", append(extra("ok"), extra("ok")[fewestChecks]), extra("ok"), "two checks"},
		{"too few checks", fine("one")[1:], fine("one")[1:], "14 checks"},
	} {
		t.Run(test.about, func(t *testing.T) {
			complaints := strings.Join(judge(test.lockredis, test.redis), "\n")
			if !strings.Contains(complaints, test.want) {
				t.Errorf("complaints %q, want %q", complaints, test.want)
			}
		})
	}
}

func TestLinesThatAreNoCheckAreRefused(t *testing.T) {
	for _, line := range []string{"text", "a\tb\tok", "a\tb\tgood\tname", "a\t\tok\tname"} {
		if checks, err := parseChecks(line + "\n"); err == nil {
			t.Errorf("%q: %v", line, checks)
		}
	}
	checks, err := parseChecks("a\tb\tok\tname\nc\td\tskip\tother\twhy\tso\n")
	want := []check{{"a", "b", "ok", "name", ""}, {"c", "d", "skip", "other", "why\tso"}}
	if err != nil || !slices.Equal(checks, want) {
		t.Error(checks, err)
	}
}
