package keyevent

import "testing"

// The letters were recorded from CONFIG GET of redis-server 7.0.15, which hides
// n beside A.
func TestLettersAreShownInTheOrderOfRedis(t *testing.T) {
	for _, test := range []struct {
		given string
		want  Class
		shown string
	}{
		{"", 0, ""},
		{"KEA", Keyspace | Keyevent | All, "AKE"},
		{"KEAmn", Keyspace | Keyevent | All | Miss | New, "AKEmn"},
		{"KEgn", Keyspace | Keyevent | Generic | New, "gnKE"},
		{"xE", Expired | Keyevent, "xE"},
		{"KEg$lshzxet", Keyspace | Keyevent | All&^Module, "g$lshzxetKE"},
		{"g$lshzxetd", All, "A"},
	} {
		got, ok := Parse(test.given)
		if !ok || got != test.want || got.String() != test.shown {
			t.Errorf("%q: %b %q %t, want %b %q", test.given, got, got, ok, test.want, test.shown)
		}
	}
}

func TestAnUnknownLetterIsRefused(t *testing.T) {
	for _, text := range []string{"y", "KEy", "a", "é"} {
		if _, ok := Parse(text); ok {
			t.Errorf("%q is read", text)
		}
	}
}

func TestEverySetIsReadBackFromItsLetters(t *testing.T) {
	for c := range Class(1 << len(letters)) {
		if got, ok := Parse(c.String()); !ok || got != c {
			t.Fatalf("%b is shown as %q and read as %b", c, c, got)
		}
	}
}
