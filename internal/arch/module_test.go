package arch

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// ofRlock lists the modules that the go.mod of a program may name when the program
// imports only rlock: go-redis, what go-redis imports, and what rlock imports.
var ofRlock = []string{
	module,
	"github.com/cespare/xxhash/v2",
	"github.com/google/uuid",
	"github.com/redis/go-redis/v9",
	"go.uber.org/atomic",
	"golang.org/x/sys",
}

// TestAProgramWithRlockRequiresNoLibraryOfTheServerOrItsTests builds a program in a
// module of its own. It works offline: building the program needs no module that
// building this test did not need.
func TestAProgramWithRlockRequiresNoLibraryOfTheServerOrItsTests(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("the go command is missing")
	}
	top, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(top, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module program\n\ngo 1.26\n",
		"go.sum": string(sums),
		"program.go": "package program\n\nimport \"" + module + "/rlock\"\n\n" +
			"var _ = rlock.New\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) []byte {
		t.Helper()
		cmd := exec.Command("go", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off")
		out, err := cmd.Output()
		failed, _ := err.(*exec.ExitError)
		switch {
		case failed != nil && strings.Contains(string(failed.Stderr), "GOPROXY=off"):
			t.Skipf("the module cache is incomplete: go %s: %s", args, failed.Stderr)
		case failed != nil:
			t.Fatalf("go %s: %v: %s", args, err, failed.Stderr)
		case err != nil:
			t.Fatal(err)
		}
		return out
	}
	run("mod", "edit", "-require="+module+"@v0.0.0", "-replace="+module+"="+top)
	built := run("list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", ".")
	var mod struct{ Require []struct{ Path string } }
	if err := json.Unmarshal(run("mod", "edit", "-json"), &mod); err != nil {
		t.Fatal(err)
	}
	var required []string
	for _, r := range mod.Require {
		required = append(required, r.Path)
		if !slices.Contains(ofRlock, r.Path) {
			t.Errorf("the program's go.mod requires %s", r.Path)
		}
	}
	if !slices.Contains(required, module) || !slices.Contains(required, ofRlock[3]) {
		t.Errorf("the program's go.mod requires only %v: the test is broken", required)
	}
	for _, m := range strings.Fields(string(built)) {
		if m != "program" && !slices.Contains(ofRlock, m) {
			t.Errorf("the program is built with %s", m)
		}
	}
}

// TestEveryModuleNeedsTheSameGoWithoutAPatchLevel accepts 1.26.0 for Go 1.26. The go
// command replaces 1.26 by 1.26.0 when a dependency has 1.26.0.
func TestEveryModuleNeedsTheSameGoWithoutAPatchLevel(t *testing.T) {
	line := regexp.MustCompile(`(?m)^go (.*)$`)
	versions := map[string]string{} // by the path of the go.mod
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "go.mod" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if m := line.FindSubmatch(text); m != nil {
			versions[path] = string(m[1])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	own := versions[filepath.Join(root, "go.mod")]
	if !regexp.MustCompile(`^1\.\d+(\.0)?$`).MatchString(own) {
		t.Errorf("go.mod needs Go %q, which has a patch level", own)
	}
	for path, v := range versions {
		if v != own {
			t.Errorf("%s needs Go %s, and the top module Go %s", path, v, own)
		}
	}
}
