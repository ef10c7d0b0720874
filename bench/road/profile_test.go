package main

import (
	"slices"
	"strings"
	"testing"
)

const source = `package a

func (t *T) outer() {
	inner := func() {
		work()
	}
	inner()
}

func (l list[K]) rare() {
	work()
}

func once() { work() }

func loops() {
	begin()
	for range 100 {
		work()
	}
}
`

func read(string) ([]byte, error) { return []byte(source), nil }

// profileOf is a profile with these counts of outer, its literal, rare, once, and loops with its loop.
func profileOf(counts ...string) string {
	blocks := []string{
		"3.21,4.17 1", "4.17,6.3 1", "10.25,12.2 1", "14.13,14.22 1", "16.14,18.17 1", "18.17,20.3 1",
	}
	lines := []string{"mode: atomic"}
	for i, count := range counts {
		lines = append(lines, module+"a/a.go:"+blocks[i]+" "+count)
	}
	return strings.Join(lines, "\n") + "\n"
}

func TestAFunctionIsEnteredIfRequestsAddToItsCounts(t *testing.T) {
	visits, err := entered(profileOf("5", "7", "0", "1"), profileOf("104", "207", "98", "1"), 100, read)
	if err != nil {
		t.Fatal(err)
	}
	if want := []visit{{"a/T.outer", 0.99}, {"a/T.outer, literal in line 4", 2}}; !slices.Equal(visits, want) {
		t.Errorf("the functions are %v, want %v", visits, want)
	}
}

func TestAMethodOfAGenericTypeIsNamedByItsType(t *testing.T) {
	visits, err := entered(profileOf("0", "0", "0", "0"), profileOf("0", "0", "1", "1"), 1, read)
	if err != nil {
		t.Fatal(err)
	}
	if want := []visit{{"a/list.rare", 1}, {"a/once", 1}}; !slices.Equal(visits, want) {
		t.Errorf("the functions are %v, want %v", visits, want)
	}
}

func TestALoopIsNoEntrance(t *testing.T) {
	visits, err := entered(profileOf("0", "0", "0", "0", "0", "0"), profileOf("0", "0", "0", "0", "1", "100"), 100, read)
	if err != nil || len(visits) > 0 {
		t.Errorf("the functions are %v, %v", visits, err)
	}
}

func TestAMalformedProfileIsAnError(t *testing.T) {
	for _, text := range []string{"mode: atomic\nno file\n", module + "a/a.go:3.21 1 1\n"} {
		if _, err := entered("", text, 1, read); err == nil {
			t.Errorf("%q is taken for a profile", text)
		}
	}
}
