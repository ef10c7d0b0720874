package config

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/directives.md")

func TestTheDocsOfTheDirectivesAreUpToDate(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "directives.md")
	want := directivesDoc()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil || strings.ReplaceAll(string(got), "\r\n", "\n") != want {
		t.Errorf("docs/directives.md is stale (%v): make docs", err)
	}
}

// A row says why its directive has no effect, exactly if it has none.
func TestEveryDirectiveWithoutEffectSaysWhy(t *testing.T) {
	for i := range directives {
		d := &directives[i]
		if without := d.set == nil && d.refuse == ""; without != (d.idle != "") {
			t.Errorf("%s: without effect: %v, its reason: %q", d.name, without, d.idle)
		}
	}
}

// directivesDoc returns the text of docs/directives.md: the table in sections, by
// what the server does with a directive.
func directivesDoc() string {
	var b strings.Builder
	b.WriteString("# Directives\n\n" +
		"Generated from the table of directives (`internal/config`). " +
		"Names, aliases, defaults, checks and error texts are those of\n" +
		"Redis 7.0.15, but for the default of `bind`. " +
		"CONFIG SET says whether a running server takes another value; protected ones are\n" +
		"taken only with `enable-protected-configs`.\n")
	docSection(&b, "Working", "The server acts on these.",
		func(d *directive) bool { return d.set != nil })
	docSection(&b, "Accepted, without effect", "These are checked as Redis checks them and shown by "+
		"CONFIG GET. They change nothing: the last column says why.",
		func(d *directive) bool { return d.refuse == "" && d.set == nil })
	b.WriteString("\n## Refused\n\nThese concern what lockredis does not have. " +
		"Any value but one is refused, with a reason; of several lines for one directive\n" +
		"the last counts.\n\n| Directive | Taken | Reason for refusing others | |\n|---|---|---|---|\n")
	for i := range directives {
		if d := &directives[i]; d.refuse != "" && d.set == nil {
			fmt.Fprintf(&b, "| `%s` | `%s` | %s | %s |\n", d.name, docTaken(d), d.refuse, docNote(d))
		}
	}
	fmt.Fprintf(&b, "\n%d directives, aliases not counted.\n\n", len(directives))
	b.WriteString("## Without a value of their own\n\n| Directive | |\n|---|---|\n")
	for _, s := range statements {
		if s.doc != "" {
			fmt.Fprintf(&b, "| `%s` | %s |\n", s.name, s.doc)
		}
	}
	return b.String()
}

func docSection(b *strings.Builder, title, text string, in func(d *directive) bool) {
	fmt.Fprintf(b, "\n## %s\n\n%s\n\n"+
		"| Directive | Default | CONFIG SET | |\n|---|---|---|---|\n", title, text)
	for i := range directives {
		if d := &directives[i]; in(d) {
			fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", d.name, docDefault(d), docSettable(d), docNote(d))
		}
	}
}

func docDefault(d *directive) string {
	if d.def == "" {
		return d.defDoc
	}
	return "`" + d.def + "`"
}

func docTaken(d *directive) string { return cmp.Or(d.defDoc, d.def, `""`) }

func docSettable(d *directive) string {
	switch {
	case d.has(immutable):
		return "no"
	case d.has(protected):
		return "protected"
	case d.canSet != nil && d.canSet("another") != nil:
		return "no"
	}
	return "yes"
}

func docNote(d *directive) string {
	var notes []string
	if d.alias != "" {
		notes = append(notes, "also `"+d.alias+"`")
	}
	if d.has(own) {
		notes = append(notes, "lockredis's own")
	}
	if d.idle != "" {
		notes = append(notes, d.idle)
	}
	if d.note != "" {
		notes = append(notes, d.note)
	}
	return strings.Join(notes, "; ")
}
