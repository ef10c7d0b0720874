package glob

import (
	"strings"
	"testing"
)

func TestMatchAnswersAsRedis(t *testing.T) {
	for _, c := range []struct {
		pattern, s   string
		nocase, want bool
	}{
		{"*", "", false, false},
		{"", "", false, true},
		{"", "a", false, false},
		{"*", "a", false, true},
		{"a*", "a", false, true},
		{"a**", "a", false, true},
		{"**a", "bca", false, true},
		{"h?llo", "hello", false, true},
		{"h[ae]llo", "hallo", false, true},
		{"h[^e]llo", "hello", false, false},
		{"h[b-a]llo", "hallo", false, true},
		{"[", "x", false, false},
		{"[^", "x", false, true},
		{"[abc", "c", false, true},
		{"[a-]", "]", false, true},
		{"[a-]", "-", false, false},
		{"[]", "]", false, false},
		{`[\]]`, "]", false, true},
		{`\*`, "*", false, true},
		{`\*`, "a", false, false},
		{`\`, `\`, false, true},
		{"HELLO", "hello", true, true},
		{"[A-C]", "b", true, true},
		{`[\B]`, "b", true, false},
		{"[\x7f-\x80]", "a", false, true},
		{"a*b*c", "axbxc", false, true},
		{"a*b*c", "axbxd", false, false},
	} {
		if got := Match(c.pattern, c.s, c.nocase); got != c.want {
			t.Errorf("Match(%q, %q, %v) is %v, want %v", c.pattern, c.s, c.nocase, got, c.want)
		}
	}
}

func TestAPatternOfManyStarsTakesNoExponentialTime(t *testing.T) {
	s := strings.Repeat("a", 20_000)
	if Match(strings.Repeat("a*", 10_000)+"b", s, false) {
		t.Error("a pattern that ends in b matches a text without b")
	}
}
