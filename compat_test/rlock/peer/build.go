package peer

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis/compat_test/rlock/topology"
	"github.com/lockredis/lockredis/internal/redistest"
)

// buildLimit is the time limit for Maven, including its downloads.
const buildLimit = 4 * time.Minute

// Releases are the Redisson releases with the layout that rlock uses.
func Releases() []string { return []string{"3.52.0", "4.7.0"} }

// Need skips the test when LOCKREDIS_RLOCK does not contain java, or when tools are
// missing. With CI=true missing tools fail the test.
func Need(tb testing.TB) {
	tb.Helper()
	if !topology.Asked(tb, topology.Java) {
		tb.Skipf("no Java was asked for: put %s into %s (needs JDK 17 and Maven)", topology.Java,
			topology.Variable)
	}
	redistest.Tool(tb, "java")
	redistest.Tool(tb, "mvn")
}

// build compiles the peer for a release and returns the class path. It does nothing if
// the last build is newer than the sources. Maven runs offline first, and uses its
// registry only when something is missing.
func build(tb testing.TB, release string) string {
	tb.Helper()
	_, here, _, _ := runtime.Caller(0)
	home := filepath.Join(filepath.Dir(here), "..", "java")
	target := filepath.Join(home, "target", release)
	list := filepath.Join(target, "classpath")
	if !newer(list, filepath.Join(home, "src"), filepath.Join(home, "pom.xml")) {
		if output, err := maven(tb, home, release, "--offline"); err != nil {
			tb.Logf("Maven without its registry: %v; now with it\n%s", err, output)
			if output, err := maven(tb, home, release); err != nil {
				tb.Fatalf("mvn: %v\n%s", err, output)
			}
		}
	}
	jars, err := os.ReadFile(list)
	if err != nil {
		tb.Fatal(err)
	}
	return filepath.Join(target,
		"classes") + string(filepath.ListSeparator) + strings.TrimSpace(string(jars))
}

func maven(tb testing.TB, home, release string, options ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(tb.Context(), buildLimit)
	defer cancel()
	words := append(options, "--batch-mode", "--quiet", "-Dredisson.version="+release,
		"process-classes")
	command := exec.CommandContext(ctx, "mvn", words...)
	command.Dir = home
	return command.CombinedOutput()
}

// newer reports whether the file is newer than all files below the paths.
func newer(file string, paths ...string) bool {
	built, err := os.Stat(file)
	if err != nil {
		return false
	}
	for _, path := range paths {
		err := filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err == nil && info.ModTime().After(built.ModTime()) {
				err = fs.ErrExist
			}
			return err
		})
		if err != nil {
			return false
		}
	}
	return true
}
