package lockredistest_test

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/lockredis/lockredis/lockredistest"
)

func TestThePageForMiniredisNamesMethodsThatExist(t *testing.T) {
	page, err := os.ReadFile("../docs/from-miniredis.md")
	if err != nil {
		t.Fatal(err)
	}
	server := reflect.TypeFor[*lockredistest.Server]()
	subscriber := reflect.TypeFor[*lockredistest.Subscriber]()
	exists := func(name string, in reflect.Type) bool { _, ok := in.MethodByName(name); return ok }
	code := regexp.MustCompile("`(?:Subscriber\\.)?(\\w+)`")
	named := 0
	for _, m := range regexp.MustCompile(`\bsrv\.([A-Z]\w*)`).FindAllStringSubmatch(string(page), -1) {
		if named++; !exists(m[1], server) {
			t.Errorf("the page names srv.%s", m[1])
		}
	}
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 || strings.TrimSpace(cells[2]) != "same" {
			continue
		}
		in := server
		if strings.Contains(cells[1], "Subscriber.") {
			in = subscriber
		}
		for _, m := range code.FindAllStringSubmatch(cells[1], -1) {
			if named++; m[1] != "RunT" && m[1] != "Run" && !exists(m[1], in) {
				t.Errorf("the page says that %s has the same name", m[1])
			}
		}
	}
	if named < 80 {
		t.Errorf("the page names %d methods", named)
	}
}

func TestThePageForMiniredisHasEachOption(t *testing.T) {
	page, err := os.ReadFile("../docs/from-miniredis.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "\n### Options\n")
	table, _, _ = strings.Cut(table, "\n### ")
	code := regexp.MustCompile("`([A-Z]\\w*)\\(")
	named := map[string]bool{}
	for line := range strings.Lines(table) {
		if cells := strings.Split(line, "|"); len(cells) == 4 {
			for _, m := range code.FindAllStringSubmatch(cells[1], -1) {
				named[m[1]] = true
			}
		}
	}
	for name := range options {
		if !named[name] {
			t.Errorf("the page does not have the option %s", name)
		}
		delete(named, name)
	}
	for name := range named {
		t.Errorf("the page has the option %s, which does not exist", name)
	}
}

// The map options is a list by hand.
func TestEachOptionIsInTheListOfOptions(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	option := regexp.MustCompile(`(?m)^func ([A-Z]\w*)\(.*\) Option \{`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range option.FindAllStringSubmatch(string(text), -1) {
			if options[m[1]] == nil {
				t.Errorf("the option %s of %s is missing", m[1], file)
			}
		}
	}
}
