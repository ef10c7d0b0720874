package arch

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/lockredis/lockredis"

// allowed lists, for each package of the server, which others of the project it
// may import. Imports go down only; a new edge is a new word here, with its
// reason in ARCHITECTURE.md.
var allowed = map[string]string{
	"cmd/lockredis":     ". internal/config",
	"rlock":             "",
	".":                 "expiry internal/config internal/server internal/tlsconf",
	"internal/server":   "expiry internal/config internal/command internal/engine resp",
	"internal/engine":   "expiry internal/config internal/command internal/glob luaexec pubsub resp store",
	"internal/command":  "expiry internal/config internal/glob luaexec pubsub resp store",
	"internal/config":   "internal/glob resp",
	"internal/tlsconf":  "internal/config",
	"internal/testcert": "",
	"internal/glob":     "",
	"luaexec":           "luaexec/lualib luaexec/syntax resp",
	"luaexec/lualib":    "",
	"luaexec/syntax":    "luaexec/lualib",
	"pubsub":            "resp",
	"store":             "expiry resp",
	"expiry":            "",
	"resp":              "",
	"lockredistest":     ". expiry internal/command internal/engine internal/testcert pubsub resp store",
}

// only lists libraries and the packages that stand before them.
var only = map[string]string{
	"github.com/tidwall/redcon":    "resp",
	"github.com/yuin/gopher-lua":   "luaexec",
	"github.com/redis/go-redis/v9": "lockredistest rlock",
}

func TestImportsGoDownOnly(t *testing.T) {
	for _, edge := range imports(t) {
		from, to := edge[0], edge[1]
		inside, ours := strings.CutPrefix(to, module)
		if !ours {
			continue
		}
		inside = strings.TrimPrefix(inside, "/")
		if inside == "" {
			inside = "."
		}
		list, known := allowed[from]
		if !known {
			t.Errorf("package %s has no rule", from)
			continue
		}
		if !contains(strings.Fields(list), inside) {
			t.Errorf("%s imports %s", from, inside)
		}
	}
}

func TestLibrariesStandBehindOnePackage(t *testing.T) {
	for _, edge := range imports(t) {
		from, to := edge[0], edge[1]
		for library, owners := range only {
			if to != library && !strings.HasPrefix(to, library+"/") {
				continue
			}
			owned := func(owner string) bool { return from == owner || strings.HasPrefix(from, owner+"/") }
			if !slices.ContainsFunc(strings.Fields(owners), owned) {
				t.Errorf("%s imports %s", from, to)
			}
		}
	}
}

// TestNothingBelowTheServerReadsTheClock keeps time an argument.
func TestNothingBelowTheServerReadsTheClock(t *testing.T) {
	for _, dir := range []string{"resp", "expiry", "store", "pubsub", "luaexec", "internal/command", "internal/engine"} {
		for path, source := range sources(t, dir) {
			for _, call := range []string{"time.Now(", "time.Since(", "time.Sleep(", "time.After(", "rand.IntN(", "os.Getenv("} {
				if strings.Contains(source, call) && !strings.HasSuffix(path, "expiry/clock.go") && !strings.Contains(source, "rnd.IntN(") {
					t.Errorf("%s uses %s", path, call)
				}
			}
		}
	}
}

func contains(list []string, word string) bool {
	for _, w := range list {
		if w == word {
			return true
		}
	}
	return false
}

const root = "../.."

// skipped are the folders that are no part of the server.
func skipped(dir string) bool {
	switch dir {
	case "compat_test", "bench", "examples", "internal/arch", "internal/rlocksuite", "docs", ".git":
		return true
	}
	return strings.HasPrefix(dir, "internal/tools")
}

// imports returns the pairs of package directory and imported path of all
// non-test files.
func imports(t *testing.T) (edges [][2]string) {
	walk(t, root, func(dir, path string) {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range f.Imports {
			to, _ := strconv.Unquote(spec.Path.Value)
			edges = append(edges, [2]string{dir, to})
		}
	})
	if len(edges) < 50 {
		t.Fatalf("only %d imports found: the walk is broken", len(edges))
	}
	return edges
}

func sources(t *testing.T, dir string) map[string]string {
	found := map[string]string{}
	walk(t, filepath.Join(root, dir), func(_, path string) {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		found[filepath.ToSlash(path)] = string(b)
	})
	if len(found) == 0 {
		t.Fatalf("no sources in %s", dir)
	}
	return found
}

// walk calls do for every Go file below from that is no test, with its
// package's directory.
func walk(t *testing.T, from string, do func(dir, path string)) {
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if skipped(rel) || d.Name() == "testdata" {
				return filepath.SkipDir
			}
			return nil
		}
		if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			do(filepath.ToSlash(filepath.Dir(rel)), path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
