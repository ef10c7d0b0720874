package compat

import (
	"slices"
	"strings"
	"testing"
)

// TestRedissonVerdictNamesUnexpectedResults needs neither Java nor a server: it judges
// made-up runs.
func TestRedissonVerdictNamesUnexpectedResults(t *testing.T) {
	scenarios := []string{"LockTest", "SpinLockTest"}
	green := []redissonCase{{scenario: "LockTest", test: "a"}, {scenario: "SpinLockTest", test: "b"}}
	skipped := func(name string) map[string]bool { return map[string]bool{name: true} }
	for _, row := range []struct {
		name      string
		tests     []redissonCase
		skips     map[string]bool
		cell      string // of SpinLockTest
		complaint string
	}{
		{"green", green, nil, "ok", ""},
		{"absent as expected", green[:1], skipped("SpinLockTest"), "-", ""},
		{"absent", green[:1], nil, "FAIL", "did not run"},
		{"there although a skip is expected", green, skipped("SpinLockTest"), "FAIL", "ran, but"},
		{"one test skipped as expected", append(green, redissonCase{scenario: "SpinLockTest", test: "c", skipped: true}),
			skipped("SpinLockTest.c"), "part", ""},
		{"one test skipped", append(green, redissonCase{scenario: "SpinLockTest", test: "c", skipped: true}), nil,
			"FAIL", "was skipped"},
		{"a skip that is missing", append(green, redissonCase{scenario: "SpinLockTest", test: "c"}),
			skipped("SpinLockTest.c"), "FAIL", "ran, but"},
		{"a skipped test that is gone", green, skipped("SpinLockTest.c"), "FAIL", "was not skipped"},
		{"green at a second run", append(green, redissonCase{scenario: "SpinLockTest", test: "c", again: "late"}), nil, "2nd", ""},
		{"green at a second run too often", append(green, slices.Repeat([]redissonCase{{scenario: "SpinLockTest", test: "c", again: "late"}},
			redissonSecondRuns+1)...), nil, "FAIL", "like 2 before it: late"},
		{"failed", append(green, redissonCase{scenario: "SpinLockTest", test: "c", failure: "boom"}), nil, "FAIL", "boom"},
	} {
		t.Run(row.name, func(t *testing.T) {
			verdict := judgeRedisson(scenarios, row.tests, row.skips)
			if got := verdict.cells["SpinLockTest"]; got != row.cell {
				t.Errorf("cell %q, want %q", got, row.cell)
			}
			named := slices.ContainsFunc(verdict.complaints, func(c string) bool {
				return strings.Contains(c, row.complaint)
			})
			if (row.complaint == "" && len(verdict.complaints) > 0) || !named && row.complaint != "" {
				t.Errorf("complaints %q, want one with %q", verdict.complaints, row.complaint)
			}
		})
	}
}

func TestExpectedSkipsOfRedissonAreReadableAndNameRealScenarios(t *testing.T) {
	skips, err := readExpectedSkips("redisson/expected-skips.txt")
	if err != nil {
		t.Fatal(err)
	}
	scenarios, err := redissonScenarios("redisson")
	if err != nil {
		t.Fatal(err)
	}
	for release, names := range skips {
		for name := range names {
			scenario, _, _ := strings.Cut(name, ".")
			if !slices.Contains(scenarios, scenario) {
				t.Errorf("%s: there is no scenario %s", release, scenario)
			}
		}
	}
}
