package compat

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis/internal/redistest"
)

// redissonReleases are the releases that the Maven project knows, oldest first.
var redissonReleases = [...]string{"3.4.1", "3.16.0", "3.16.8", "3.23.5", "3.24.3",
	"3.27.2", "3.45.1", "3.52.0", "4.3.1", "4.7.0"}

// redissonClusterReleases are the releases that run the scenarios with useClusterServers.
var redissonClusterReleases = [...]string{"3.16.8", "3.52.0", "4.7.0"}

const (
	// redissonRunLimit ends one release on one server, Maven's downloads included. Maven's
	// own limit for the JVM of the tests is shorter, so that there are reports to read.
	redissonRunLimit = 8 * time.Minute
	// redissonEndGrace is the time after the limit in which Maven ends its JVM, and the JVM
	// its servers.
	redissonEndGrace = 15 * time.Second

	redissonReleasesVar = "LOCKREDIS_REDISSON"
	redissonServersVar  = "LOCKREDIS_SERVERS"
)

// redissonValkeyReleases are the releases that run the scenarios that need Valkey.
var redissonValkeyReleases = [...]string{"3.52.0", "4.7.0"}

// redissonSuite is a part of the scenarios: the ones with a tag, or without one.
type redissonSuite struct {
	tag string // "cluster", "valkey" or ""
}

// redissonTags are the tags of suites. The names of a tag's scenarios end in the word.
var redissonTags = map[string]string{"cluster": "ClusterTest", "valkey": "ValkeyTest"}

// has reports whether a scenario, or a test of one, is in the suite.
func (s redissonSuite) has(name string) bool {
	scenario, _, _ := strings.Cut(name, ".")
	for tag, end := range redissonTags {
		if strings.HasSuffix(scenario, end) {
			return tag == s.tag
		}
	}
	return s.tag == ""
}

// maven returns more arguments of Maven.
func (s redissonSuite) maven() []string {
	if s.tag == "" {
		return nil
	}
	return []string{"-Dgroups=" + s.tag, "-DexcludedGroups=", "-Dfamilies.skip=true"}
}

// TestRedisson runs unmodified Redisson against the servers under test: the JUnit suite
// in redisson/, once for each release of LOCKREDIS_REDISSON ("3.16.8,4.7.0" or "all") and
// each server of LOCKREDIS_SERVERS. The servers are "lockredis", the default, and
// "redis-server", which proves the suite itself. The test starts the servers and the JVM.
// A release that lacks a feature must skip exactly the tests in
// redisson/expected-skips.txt.
func TestRedisson(t *testing.T) {
	testRedisson(t, redissonSuite{}, redissonWanted(t, redissonReleases[:]))
}

// TestRedissonOnACluster runs Redisson with useClusterServers on a cluster of one node, as
// TestRedisson does, for the releases of redissonClusterReleases.
func TestRedissonOnACluster(t *testing.T) {
	testTagged(t, "cluster", redissonClusterReleases[:])
}

// TestRedissonOnValkey runs the scenarios that need commands of Valkey 9.1, as TestRedisson
// does, for the releases of redissonValkeyReleases. In place of redis-server it starts
// Valkey, and lockredis has the directive emulate.
func TestRedissonOnValkey(t *testing.T) {
	testTagged(t, "valkey", redissonValkeyReleases[:])
}

func testTagged(t *testing.T, tag string, all []string) {
	t.Helper()
	releases := slices.DeleteFunc(redissonWanted(t, all), func(release string) bool {
		return !slices.Contains(all, release)
	})
	if len(releases) == 0 {
		t.Skipf("only %s run the scenarios with the tag %s", strings.Join(all, " "), tag)
	}
	testRedisson(t, redissonSuite{tag}, releases)
}

func testRedisson(t *testing.T, suite redissonSuite, releases []string) {
	t.Helper()
	servers := redissonPrograms(t)
	skips, err := readExpectedSkips(filepath.Join("redisson", "expected-skips.txt"))
	if err != nil {
		t.Fatal(err)
	}
	scenarios, err := redissonScenarios("redisson")
	if err != nil {
		t.Fatal(err)
	}
	scenarios = slices.DeleteFunc(scenarios, func(name string) bool { return !suite.has(name) })
	table := newRedissonTable(scenarios, releases)
	var failed []string
	for _, release := range releases {
		for _, server := range servers {
			t.Run(release+"/"+server.name, func(t *testing.T) {
				tests := runRedisson(t, suite, release, server)
				verdict := judgeRedisson(scenarios, tests, suite.of(skips[release]))
				table.add(server.name, release, verdict)
				for _, note := range verdict.notes {
					t.Log(note)
				}
				for _, complaint := range verdict.complaints {
					t.Error(complaint)
					failed = append(failed, release+" on "+server.name+": "+complaint)
				}
			})
		}
	}
	t.Logf("scenario by release\n%s", table)
	if len(failed) > 0 { // again at the end, where a reader of a long log looks first
		t.Logf("failed:\n%s", strings.Join(failed, "\n"))
	}
}

// of returns the skips that belong to the suite.
func (s redissonSuite) of(skips map[string]bool) map[string]bool {
	own := maps.Clone(skips)
	maps.DeleteFunc(own, func(name string, _ bool) bool { return !s.has(name) })
	return own
}

// redissonWanted returns the releases that LOCKREDIS_REDISSON names, which can be all, or
// skips the test.
func redissonWanted(t *testing.T, all []string) []string {
	t.Helper()
	asked := os.Getenv(redissonReleasesVar)
	if asked == "" {
		t.Skipf("set %s to Redisson releases or to all (needs JDK 17 and Maven)", redissonReleasesVar)
	}
	releases := strings.Split(asked, ",")
	if asked == "all" {
		releases = slices.Clone(all)
	}
	for _, release := range releases {
		if !slices.Contains(redissonReleases[:], release) {
			t.Fatalf("%s: no release %q; there are %s", redissonReleasesVar, release,
				strings.Join(redissonReleases[:], " "))
		}
	}
	redistest.Tool(t, "java")
	redistest.Tool(t, "mvn")
	return releases
}

// runRedisson runs the suite of one release against a fresh server and returns its
// reports.
func runRedisson(t *testing.T, suite redissonSuite, release string,
	program redissonProgram) []redissonCase {
	t.Helper()
	home, err := filepath.Abs("redisson")
	if err != nil {
		t.Fatal(err)
	}
	target := filepath.Join(home, "target", release)
	name := program.name
	if suite.tag != "" {
		name += "-" + suite.tag
	}
	reports := filepath.Join(target, "reports-"+name)
	if err := os.RemoveAll(reports); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(target, 0o755); err != nil {
		t.Fatal(err)
	}
	addr := startRedissonServer(t, suite, program, filepath.Join(target, name+".log"))
	output, failed := runMaven(t, home, release, program, addr, reports, suite.maven()...)
	tests, err := readRedissonReports(reports)
	if err != nil {
		t.Fatal(err)
	}
	broken := slices.ContainsFunc(tests, func(c redissonCase) bool { return c.failure != "" })
	if failed != nil && !broken {
		// No test failed: the build, the JVM or the time limit did.
		t.Errorf("mvn: %v\n%s", failed, redissonTail(output, 40))
	}
	return tests
}

func runMaven(t *testing.T, home, release string, program redissonProgram,
	addr, reports string, more ...string) ([]byte, error) {
	t.Helper()
	host, port, _ := strings.Cut(addr, ":")
	ctx, cancel := context.WithTimeout(t.Context(), redissonRunLimit)
	defer cancel()
	args := append([]string{"--batch-mode", "--quiet", "test",
		"-Dredisson.version=" + release, "-Dredis.host=" + host, "-Dredis.port=" + port,
		"-Dserver.command=" + program.path, "-Dreports=" + reports,
		// The families run after the others, failures or not: the reports tell.
		"-Dmaven.test.failure.ignore=true"}, more...)
	maven := exec.CommandContext(ctx, "mvn", args...)
	maven.Dir = home
	maven.Cancel = func() error { return maven.Process.Signal(os.Interrupt) }
	maven.WaitDelay = redissonEndGrace
	start := time.Now()
	output, err := maven.CombinedOutput()
	t.Logf("Redisson %s on %s: %s", release, program.name, time.Since(start).Round(time.Second/10))
	if ctx.Err() != nil {
		err = fmt.Errorf("not done within %s: %w", redissonRunLimit, err)
	}
	return output, err
}

// redissonTail returns the last n lines of a program's output.
func redissonTail(output []byte, n int) string {
	lines := strings.Split(strings.TrimRight(string(output), "\n"), "\n")
	if len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	return strings.Join(lines, "\n")
}
