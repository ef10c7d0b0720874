package arch

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/lockredis/lockredis/internal/redistest"
)

// TestAPackageThatNamesATypeDoesNotCompileTheStoreAgain holds the decision about generic types in
// ARCHITECTURE.md. It compiles a package that only names the type.
func TestAPackageThatNamesATypeDoesNotCompileTheStoreAgain(t *testing.T) {
	redistest.SkipWhenQuick(t)
	redistest.SkipUnderRaceDetector(t)
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("the go command is missing")
	}
	of := func(pkg, generic string) *regexp.Regexp {
		return regexp.MustCompile(`\Q` + module + `/` + pkg + `.\E\(\*` + generic + `\[`)
	}
	for _, c := range []struct {
		pkg, typ string
		not      *regexp.Regexp // a method that it must not compile
	}{
		{"lockredistest", "Server", of("store", `\w+`)},
		{"", "Server", of("store", `\w+`)},
		{"internal/command", "Ctx", of("store", `(dict|idTree)`)},
	} {
		dir := t.TempDir()
		source := filepath.Join(dir, "probe.go")
		text := fmt.Sprintf("package probe\n\nimport p %q\n\nfunc F(*p.%s) {}\n", path.Join(module, c.pkg), c.typ)
		if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		top, err := filepath.Abs(root)
		if err != nil {
			t.Fatal(err)
		}
		added, err := json.Marshal(map[string]any{"Replace": map[string]string{
			filepath.Join(top, "internal", "probe", "probe.go"): source,
		}})
		if err != nil {
			t.Fatal(err)
		}
		overlay, archive := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "probe.a")
		if err := os.WriteFile(overlay, added, 0o644); err != nil {
			t.Fatal(err)
		}
		run := func(args ...string) []byte {
			t.Helper()
			cmd := exec.Command("go", args...)
			cmd.Dir = top
			out, err := cmd.Output()
			if failed, ok := err.(*exec.ExitError); ok {
				t.Fatalf("go %s: %v: %s", args, err, failed.Stderr)
			} else if err != nil {
				t.Fatal(err)
			}
			return out
		}
		run("build", "-overlay", overlay, "-o", archive, "./internal/probe")
		symbols := run("tool", "nm", archive)
		if !regexp.MustCompile(`probe\.F\b`).Match(symbols) {
			t.Fatalf("the compiled package has no F: the test is broken:\n%s", symbols)
		}
		found := c.not.FindAllString(string(symbols), -1)
		slices.Sort(found)
		if found = slices.Compact(found); len(found) > 0 {
			t.Errorf("a package that names %s/%s compiles the methods of %q", c.pkg, c.typ, found)
		}
	}
}
