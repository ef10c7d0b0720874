package program

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/lockredis/lockredis/internal/config"
)

// commit is the source's commit. .ci/build-binaries sets it with the linker's
// option -X; it is "" in other builds.
var commit string

// printVersion writes the line of --version.
func printVersion(out io.Writer) {
	build, _ := debug.ReadBuildInfo()
	fmt.Fprintf(out, "lockredis server v=%s lockredis=%s commit=%s bits=%d %s\n",
		config.RedisVersion, config.Version, commitOf(commit, build), strconv.IntSize,
		runtime.Version())
}

// commitOf returns the commit that the program was built from: linked, or what
// the go command recorded in build. The commit of a changed working tree ends in
// "-dirty". build may be nil. The result is "unknown" when nothing was recorded.
func commitOf(linked string, build *debug.BuildInfo) string {
	if linked != "" || build == nil {
		return orUnknown(linked)
	}
	var revision, dirty string
	for _, setting := range build.Settings {
		switch {
		case setting.Key == "vcs.revision":
			revision = setting.Value[:min(12, len(setting.Value))]
		case setting.Key == "vcs.modified" && setting.Value == "true":
			dirty = "-dirty"
		}
	}
	if revision != "" {
		return revision + dirty
	}
	// go install of a commit without a tag: v0.0.0-20261122214300-3b912ffe1f5a.
	if at := strings.LastIndexByte(build.Main.Version, '-'); at > 0 {
		if last := build.Main.Version[at+1:]; len(last) == 12 {
			return last
		}
	}
	return "unknown"
}

// orUnknown returns text, or "unknown" for "".
func orUnknown(text string) string {
	if text == "" {
		return "unknown"
	}
	return text
}
