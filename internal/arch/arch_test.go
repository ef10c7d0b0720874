package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/lockredis/lockredis"

// allowed lists, for each package of the product, the other packages of the
// project that it may import. Imports go down only. A new import is added here,
// with its reason in ARCHITECTURE.md.
var allowed = map[string]string{
	"cmd/lockredis":        "internal/program",
	"internal/program":     ". internal/backdoor internal/collector internal/config internal/control internal/deployment internal/inspect internal/rediscli resp",
	"internal/deployment":  "internal/backdoor resp",
	"internal/control":     "expiry internal/backdoor internal/fault internal/inspect resp",
	"internal/rediscli":    "internal/config resp",
	"rlock":                "internal/leases internal/lockkeys rlock/internal/hub rlock/internal/retry rlock/internal/scripts rlock/internal/sender",
	".":                    "expiry internal/backdoor internal/cluster internal/config internal/sentinel internal/server internal/tlsconf",
	"internal/sentinel":    "expiry internal/command internal/command/commands internal/command/connection internal/command/server internal/config internal/engine internal/glob resp",
	"internal/server":      "expiry internal/bubble internal/cluster internal/collector internal/config internal/command internal/engine resp",
	"internal/engine":      "expiry internal/acl internal/cluster internal/config internal/command internal/command/commands internal/fault internal/glob internal/heapsize internal/inspect internal/journal internal/memory internal/observing internal/persist internal/record internal/replication internal/shrink internal/tracking luaexec pubsub resp store",
	"internal/memory":      "internal/command internal/config resp store",
	"internal/persist":     "internal/aof internal/command internal/config internal/rdb resp store",
	"internal/command":     "expiry internal/acl internal/cluster internal/config internal/glob internal/heapsize internal/inspect internal/keyevent internal/latency internal/rdb internal/slowlog luaexec pubsub resp store",
	"internal/config":      "internal/cluster internal/keyevent resp",
	"internal/keyevent":    "",
	"internal/rdb":         "resp store",
	"internal/aof":         "",
	"internal/acl":         "internal/glob",
	"internal/bubble":      "",
	"internal/cluster":     "",
	"internal/collector":   "",
	"internal/heapsize":    "",
	"internal/shrink":      "",
	"internal/slowlog":     "",
	"internal/tlsconf":     "internal/config",
	"internal/testcert":    "",
	"internal/glob":        "",
	"internal/geo":         "",
	"internal/hll":         "",
	"internal/partialsort": "",
	"internal/observing":   "expiry internal/command internal/latency internal/slowlog resp",
	"internal/tracking":    "internal/command internal/heapsize internal/shrink",
	"internal/journal":     "internal/command resp",
	"internal/replication": "internal/command internal/persist resp store",
	"internal/record":      "internal/command internal/inspect internal/shrink resp store",
	"internal/inspect":     "internal/lockkeys store",
	"internal/backdoor":    "internal/config internal/fault internal/inspect resp",
	"internal/fault":       "internal/command internal/glob pubsub resp",
	"internal/latency":     "",
	"internal/leases":      "",
	"internal/lockkeys":    "",
	"luaexec":              "internal/collector internal/heapsize internal/shrink luaexec/lualib luaexec/syntax resp",
	"luaexec/lualib":       "",
	"luaexec/syntax":       "luaexec/lualib",
	"pubsub":               "internal/heapsize internal/shrink resp",
	"store":                "expiry internal/cluster internal/heapsize resp",
	"expiry":               "",
	"resp":                 "",
	"lockredistest":        ". expiry internal/backdoor internal/bubble internal/deployment internal/fault internal/glob internal/inspect internal/leases internal/testcert resp",

	// The groups of commands import only internal/command, but for GEO commands, which are about sorted
	// sets.
	"internal/command/acl":         "internal/acl internal/command internal/config pubsub resp",
	"internal/command/bitmap":      "internal/command resp store",
	"internal/command/cluster":     "internal/cluster internal/command internal/config resp",
	"internal/command/commands":    "internal/command internal/command/acl internal/command/bitmap internal/command/cluster internal/command/connection internal/command/debug internal/command/fault internal/command/generic internal/command/geo internal/command/hash internal/command/hll internal/command/list internal/command/lock internal/command/observe internal/command/pubsub internal/command/scripting internal/command/server internal/command/set internal/command/str internal/command/stream internal/command/transaction internal/command/zset",
	"internal/command/commandtest": "internal/command internal/command/commands internal/config resp store",
	"internal/command/connection":  "internal/acl internal/command internal/config resp",
	"internal/command/debug":       "internal/command internal/config internal/glob resp store",
	"internal/command/fault":       "internal/command internal/fault resp",
	"internal/command/generic":     "internal/command internal/glob internal/partialsort internal/rdb resp store",
	"internal/command/geo":         "internal/command internal/command/zset internal/geo internal/partialsort resp store",
	"internal/command/hash":        "internal/command resp store",
	"internal/command/hll":         "internal/command internal/hll resp store",
	"internal/command/list":        "internal/command resp store",
	"internal/command/lock":        "internal/command internal/glob internal/inspect internal/lockkeys resp store",
	"internal/command/observe":     "internal/command internal/latency internal/slowlog resp",
	"internal/command/pubsub":      "internal/command pubsub resp",
	"internal/command/scripting":   "internal/command internal/rdb luaexec resp",
	"internal/command/server":      "internal/command internal/config pubsub resp store",
	"internal/command/set":         "internal/command resp store",
	"internal/command/str":         "internal/command resp store",
	"internal/command/stream":      "internal/command internal/heapsize resp store",
	"internal/command/transaction": "internal/command resp",
	"internal/command/zset":        "internal/command resp store",

	"rlock/internal/hub":     "rlock/internal/retry",
	"rlock/internal/retry":   "",
	"rlock/internal/scripts": "",
	"rlock/internal/sender":  "internal/lockkeys rlock/internal/retry rlock/internal/scripts",

	"packaging/bill":       "packaging/sbom",
	"packaging/dist":       "packaging/executable packaging/sbom",
	"packaging/executable": "",
	"packaging/image":      "internal/config packaging/executable packaging/sbom packaging/shell",
	"packaging/lockredis":  "internal/program packaging/shell",
	"packaging/sbom":       "",
	"packaging/shell":      "",
}

// only lists, for each library, the packages that may import it. Packages below
// a listed package may import the library too.
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
		if !slices.Contains(strings.Fields(list), inside) {
			t.Errorf("%s imports %s", from, inside)
		}
	}
}

func TestLibrariesAreImportedByTheirOwnersOnly(t *testing.T) {
	for _, edge := range imports(t) {
		from, to := edge[0], edge[1]
		for library, owners := range only {
			if to != library && !strings.HasPrefix(to, library+"/") {
				continue
			}
			owned := func(owner string) bool {
				return from == owner || strings.HasPrefix(from, owner+"/")
			}
			if !slices.ContainsFunc(strings.Fields(owners), owned) {
				t.Errorf("%s imports %s", from, to)
			}
		}
	}
}

// ambient lists, by import path, the functions that read the time, random numbers
// or the environment of the process. Packages below the server must not use them:
// they get such values as arguments. "*" means every name.
var ambient = map[string][]string{
	"time": {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "NewTimer",
		"NewTicker", "Tick"},
	"os":           {"Getenv", "LookupEnv", "Environ", "ExpandEnv"},
	"math/rand":    {"*"},
	"math/rand/v2": {"*"},
	"crypto/rand":  {"*"},
}

// harmless lists the names of the math/rand packages that draw no random number
// of their own: types, and generators with a given seed.
var harmless = []string{"Rand", "New", "Source", "NewPCG", "PCG", "NewChaCha8", "ChaCha8"}

// TestTimeAndRandomNumbersAreArguments skips expiry/clock.go, which makes the
// machine's clock an argument. It ignores the seeds of hash/maphash: no client
// can see them.
func TestTimeAndRandomNumbersAreArguments(t *testing.T) {
	for _, dir := range []string{"resp", "expiry", "store", "pubsub", "luaexec",
		"internal/command", "internal/config", "internal/engine", "internal/geo", "internal/glob",
		"internal/hll", "internal/tracking",
		"internal/inspect", "internal/rdb", "internal/fault", "internal/lockkeys", "internal/sentinel", "internal/cluster",
		"internal/acl", "internal/latency", "internal/memory", "internal/observing",
		"internal/persist"} {
		files := 0
		walk(t, filepath.Join(root, dir), func(_, path string) {
			files++
			if strings.HasSuffix(filepath.ToSlash(path), "/expiry/clock.go") {
				return
			}
			source, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, use := range ambientUses(t, source) {
				t.Errorf("%s uses %s", path, use)
			}
		})
		if files == 0 {
			t.Fatalf("no sources in %s", dir)
		}
	}
}

func TestAmbientUsesAreFound(t *testing.T) {
	const source = `package p

import (
	"math/rand/v2"
	"os"
	clock "time"
)

func f(rnd *rand.Rand) (int, clock.Time) {
	os.Getenv("HOME")
	rnd.IntN(3)
	rand.New(rand.NewPCG(1, 2))
	return rand.IntN(3), clock.Now()
}
`
	want := []string{"os.Getenv", "math/rand/v2.IntN", "time.Now"}
	if got := ambientUses(t, []byte(source)); !slices.Equal(got, want) {
		t.Fatalf("found %v instead of %v", got, want)
	}
}

// ambientUses returns the functions listed in ambient that a Go source mentions,
// as "import path.Name".
func ambientUses(t *testing.T, source []byte) (uses []string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "", source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	paths := map[string]string{} // import path by the package's name in this file
	for _, spec := range f.Imports {
		to, _ := strconv.Unquote(spec.Path.Value)
		name := path.Base(strings.TrimSuffix(to, "/v2"))
		if spec.Name != nil {
			name = spec.Name.Name
		}
		paths[name] = to
	}
	ast.Inspect(f, func(n ast.Node) bool {
		selector, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if of, ok := selector.X.(*ast.Ident); ok && isAmbient(paths[of.Name], selector.Sel.Name) {
			uses = append(uses, paths[of.Name]+"."+selector.Sel.Name)
		}
		return true
	})
	return uses
}

func isAmbient(from, name string) bool {
	names := ambient[from]
	if slices.Equal(names, []string{"*"}) {
		return !slices.Contains(harmless, name)
	}
	return slices.Contains(names, name)
}

const root = "../.."

// skipped reports whether the rules do not apply to a folder.
func skipped(dir string) bool {
	return slices.Contains([]string{"compat_test", "bench", "examples", "internal/arch",
		"internal/nohost", "internal/redistest", "internal/rlocksuite", "internal/stall", "docs", ".git"}, dir)
}

// imports returns one pair for each import in a file that is not a test: the
// directory of the importing package, and the import path.
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

// walk calls do for every Go file below the directory from, except tests. dir is
// the directory of the file's package, relative to the root of the project.
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
