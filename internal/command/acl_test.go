package command

import (
	"slices"
	"strings"
	"testing"

	"github.com/lockredis/lockredis/internal/acl"
)

func TestRulesCanNameTheCommandsThatAreAbsent(t *testing.T) {
	catalog := NewTable().ACLCatalog()
	for name := range strings.FieldsSeq(absent) {
		if catalog.Lookup(name) == nil {
			t.Errorf("%s is not in the catalog", name)
		}
	}
	for line := range strings.Lines(strings.TrimSpace(absentCategories)) {
		for _, category := range strings.Fields(line)[1:] {
			if !slices.Contains(acl.Categories, category) {
				t.Errorf("%q names no category: %s", line, category)
			}
		}
	}
}
