package acl

import (
	"strings"
	"testing"
)

// FuzzRules checks three properties of rules: a user's description makes the same user, a
// refused rule changes nothing, and the selectors of a user are found in a file again.
func FuzzRules(f *testing.F) {
	for _, seed := range []string{
		"on nopass ~* &* +@all", "+get -@all +@string -mget >x #", "(+get ~x) ( %R~y &a ) -@all",
		"+config|get -config +config|nosuch", "+select|1 +select|A %RW~ %W~a %R~a & &x",
		"reset clearselectors () (+@slow -config|set)", "skip-sanitize-payload sanitize-payload nopass",
		"!aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa <x (", "+@all -get +get|x\x00 ~\xff",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		us := NewUsers(catalog())
		var kept []string
		for _, rule := range strings.Split(text, " ") {
			before := us.File()
			if _, err := us.Set("u", []string{rule}); err != nil {
				if us.File() != before {
					t.Fatalf("%q is refused and changes %q to %q", rule, before, us.File())
				}
				continue
			}
			kept = append(kept, rule)
		}
		if us.Get("u") == nil {
			return
		}
		line := us.Get("u").String()
		again := NewUsers(catalog())
		if _, err := again.Set("u", strings.Split(line, " ")[2:]); err != nil {
			t.Fatalf("%q makes %q: %v", kept, line, err)
		}
		if got := again.Get("u").String(); got != line {
			t.Fatalf("%q makes %q, which makes %q", kept, line, got)
		}
		if _, err := again.Load("f", us.File()); err != nil || again.File() != us.File() {
			t.Fatalf("%q is loaded as %q: %v", us.File(), again.File(), err)
		}
	})
}
