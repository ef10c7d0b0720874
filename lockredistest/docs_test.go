package lockredistest_test

import (
	"os"
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
