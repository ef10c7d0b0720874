package command

import (
	"slices"
	"strings"
	"testing"

	"github.com/lockredis/lockredis/internal/acl"
)

func TestRulesCanNameTheSubcommandsThatAreAbsent(t *testing.T) {
	catalog := NewTable(Group{"sentinel", []*Command{{Name: "sentinel", Subs: []*Command{{Name: "sentinel|masters"}}}}}).ACLCatalog()
	if catalog.Lookup("sentinel|simulate-failure") == nil {
		t.Error("SENTINEL SIMULATE-FAILURE is not in the catalog")
	}
	for line := range strings.Lines(strings.TrimSpace(absentCategories)) {
		for _, category := range strings.Fields(line)[1:] {
			if !slices.Contains(acl.Categories, category) {
				t.Errorf("%q names no category: %s", line, category)
			}
		}
	}
}
