//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestConnectionsRingHasAllStepsOfAllItsSlotsInBatches(t *testing.T) {
	s := loadSpec{Pipeline: 2, Slots: 2, Steps: []step{
		{[]string{"SET", "k{slot}", "{conn}"}, "+OK\r\n"},
		{[]string{"GET", "k{slot}"}, "$1\r\n3\r\n"},
	}}
	ring, err := s.ring(3)
	if err != nil {
		t.Fatal(err)
	}
	const out = "*3\r\n$3\r\nSET\r\n$2\r\nk7\r\n$1\r\n3\r\n*2\r\n$3\r\nGET\r\n$2\r\nk7\r\n"
	const want = "+OK\r\n$1\r\n3\r\n"
	if len(ring) != 2 || string(ring[1].out) != out || string(ring[1].want) != want {
		t.Fatalf("%q", ring)
	}
	s.Pipeline = 3
	if _, err := s.ring(0); err == nil {
		t.Fatal("four commands went into batches of three")
	}
}

func TestLoaderTakesRepliesInPiecesAndRefusesWrongReplies(t *testing.T) {
	l := loader{ring: []batch{{want: []byte("+OK\r\n:1\r\n")}}}
	for _, piece := range []struct {
		bytes string
		done  bool
	}{{"+O", false}, {"K\r\n:1", false}, {"\r\n", true}} {
		if done, err := l.take([]byte(piece.bytes)); done != piece.done || err != nil {
			t.Fatalf("%q: %v %v", piece.bytes, done, err)
		}
	}
	for _, wrong := range []string{"-ERR", "+OK\r\n:2", "+OK\r\n:1\r\n:1"} {
		if _, err := l.take([]byte(wrong)); err == nil {
			t.Errorf("%q was taken", wrong)
		}
	}
}

func TestLatenessIsReadFromNamesThatArriveInPieces(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_500)
	event := "$22\r\nlease:1700000000000:17\r\n*3\r\n$7\r\nmessage\r\n$22\r\nlease:1700000000400:18\r\n"
	for cut := range event {
		late, rest, err := appendLateness(nil, []byte(event[:cut]), now)
		if err == nil {
			late, _, err = appendLateness(late, append(rest, event[cut:]...), now)
		}
		if err != nil || len(late) != 2 || late[0] != 500*time.Millisecond ||
			late[1] != 100*time.Millisecond {
			t.Fatalf("cut at %d: %v %v", cut, late, err)
		}
	}
}

func TestGoalIsMetOnItsOwnSide(t *testing.T) {
	for _, c := range []struct {
		goal  *goal
		value float64
		want  string
	}{
		{ratioAtLeast(1.05, 1.3), 1.04, "no"}, {ratioAtLeast(1.05, 1.3), 1.05, "yes"},
		{ratioAtLeast(1.05, 1.3), 1.3, "stretch"},
		{ratioAtMost(1, 0.8), 1.01, "no"}, {ratioAtMost(1, 0.8), 0.9, "yes"},
		{valueAtMost(5, 2), 1, "stretch"},
		{only(ratioAtLeast(1, 0)), 7, "yes"}, {stretched(valueAtMost(0, 0)), 5, ""},
		{stretched(valueAtMost(0, 0)), 0, "stretch"},
	} {
		if got := c.goal.met(c.value); got != c.want {
			t.Errorf("%+v: %v is %q instead of %q", *c.goal, c.value, got, c.want)
		}
	}
}

func TestNumbersHaveThreeDigitsAndGroups(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 0.213: "0.21", 15: "15", 15.26: "15.3",
		342.6: "343", 1234567.8: "1,234,568", 1000: "1,000"} {
		if got := number(v); got != want {
			t.Errorf("%v is written %s instead of %s", v, got, want)
		}
	}
}

func TestPageKeepsItsHandwrittenPart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.md")
	if err := renewPage(path, "one\n"); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("before\n"+string(page)+"after\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := renewPage(path, "two\n"); err != nil {
		t.Fatal(err)
	}
	page, err = os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(page), "before\n"+strings.Replace(newPage, pageEnd, "two\n"+pageEnd,
		1)+"after\n"; got != want {
		t.Fatalf("%q instead of %q", got, want)
	}
	if err := os.WriteFile(path, []byte("no markers"), 0o644); err != nil {
		t.Fatal(err)
	}
	if renewPage(path, "three\n") == nil {
		t.Fatal("a page without markers was written")
	}
}
