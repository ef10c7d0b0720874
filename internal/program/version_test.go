package program

import (
	"runtime/debug"
	"testing"
)

func TestTheCommitComesFromTheLinkerOrTheGoCommand(t *testing.T) {
	vcs := func(modified string) *debug.BuildInfo {
		return &debug.BuildInfo{
			Main: debug.Module{Version: "v0.3.1-0.20261122214300-aaaaaaaaaaaa+dirty"},
			Settings: []debug.BuildSetting{
				{Key: "vcs.revision", Value: "3b912ffe1f5a0123456789"},
				{Key: "vcs.modified", Value: modified},
			},
		}
	}
	module := func(version string) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Version: version}}
	}
	for _, test := range []struct {
		name, linked string
		build        *debug.BuildInfo
		want         string
	}{
		{"linked", "3b912ff", vcs("false"), "3b912ff"},
		{"built in a clone", "", vcs("false"), "3b912ffe1f5a"},
		{"built in a changed clone", "", vcs("true"), "3b912ffe1f5a-dirty"},
		{"installed at a commit", "", module("v0.0.0-20261122214300-3b912ffe1f5a"),
			"3b912ffe1f5a"},
		{"installed at a tag", "", module("v0.3.0"), "unknown"},
		{"built without Git", "", module("(devel)"), "unknown"},
		{"without build information", "", nil, "unknown"},
	} {
		if got := commitOf(test.linked, test.build); got != test.want {
			t.Errorf("%s: commit %q, want %q", test.name, got, test.want)
		}
	}
}
