package scripts

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// names returns the names of all scripts, from their files.
func names(t testing.TB) (names []string) {
	t.Helper()
	found, err := fs.Glob(files, "lua/*.lua")
	if err != nil || len(found) < 15 {
		t.Fatal(found, err)
	}
	for _, file := range found {
		names = append(names, strings.TrimSuffix(path.Base(file), ".lua"))
	}
	return names
}

func TestEachFileHasAVariableOfItsNameAndTheReverse(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "scripts.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var declared []string
	ast.Inspect(f, func(n ast.Node) bool {
		spec, _ := n.(*ast.ValueSpec)
		if spec == nil || len(spec.Values) != 1 {
			return true
		}
		call, _ := spec.Values[0].(*ast.CallExpr)
		if call == nil {
			return true
		}
		name, _ := strconv.Unquote(call.Args[0].(*ast.BasicLit).Value)
		declared = append(declared, name)
		want := strings.ReplaceAll(name, "_", "")
		if got := spec.Names[0].Name; !strings.EqualFold(got, want) {
			t.Errorf("variable %s has the script %s", got, name)
		}
		return true
	})
	slices.Sort(declared)
	if want := names(t); !slices.Equal(declared, want) {
		t.Errorf("variables for\n%v, files for\n%v", declared, want)
	}
}

// binding matches one line that gives keys or arguments their names.
var binding = regexp.MustCompile(`^local ([a-z_, ]+) = ((?:tonumber\()?(?:KEYS|ARGV)\[.*)$`)

var indexed = regexp.MustCompile(`(KEYS|ARGV)\[(\w+)\]`)

func TestTheFirstLinesBindTheNamesOfTheHead(t *testing.T) {
	for _, name := range names(t) {
		s := mustLoad(name)
		bound, rest := map[string][]string{}, ""
		for line := range strings.Lines(s.Body) {
			line = strings.TrimSpace(line)
			m := binding.FindStringSubmatch(line)
			if strings.HasPrefix(line, "--") || line == "" {
				continue
			}
			if m == nil || rest != "" {
				rest += line + "\n"
				continue
			}
			words := strings.Split(m[1], ", ")
			for i, use := range indexed.FindAllStringSubmatch(m[2], -1) {
				bound[use[1]] = append(bound[use[1]], words[i])
				if want := strconv.Itoa(len(bound[use[1]])); use[2] != want {
					t.Errorf("%s: %s has index %s, want %s", name, words[i], use[2], want)
				}
			}
		}
		keys, moreKeys := fixed(s.Keys)
		if !slices.Equal(bound["KEYS"], s.Keys[:keys]) {
			t.Errorf("%s: binds keys %v, head has %v", name, bound["KEYS"], s.Keys)
		}
		args, moreArgs := fixed(s.Args)
		if !slices.Equal(bound["ARGV"], s.Args[:args]) {
			t.Errorf("%s: binds arguments %v, head has %v", name, bound["ARGV"], s.Args)
		}
		if strings.Contains(rest, "KEYS") != moreKeys || strings.Contains(rest, "ARGV") != moreArgs {
			t.Errorf("%s: uses KEYS or ARGV after the first lines", name)
		}
		for _, word := range slices.Concat(s.Keys[:keys], s.Args[:args]) {
			if !regexp.MustCompile(`\b` + word + `\b`).MatchString(rest) {
				t.Errorf("%s: does not use %s", name, word)
			}
		}
	}
}

func TestAHeadSaysWhatTheScriptDoesAndReplies(t *testing.T) {
	for _, name := range names(t) {
		body := mustLoad(name).Body
		if first, _, _ := strings.Cut(body, "\n"); !strings.HasPrefix(first, "-- "+name+" ") ||
			!strings.HasSuffix(first, ".") {
			t.Errorf("%s: first line %q", name, first)
		}
		if !strings.Contains(body, "\n-- replies: ") {
			t.Errorf("%s: no replies", name)
		}
		for line := range strings.Lines(body) {
			if len(line) > 100 || strings.Contains(line, "\t") {
				t.Errorf("%s: line %q is long or has a tab", name, line)
			}
		}
	}
}

func TestEveryFragmentIsIncluded(t *testing.T) {
	found, err := fs.Glob(files, "lua/fragments/*.lua")
	if err != nil || len(found) == 0 {
		t.Fatal(found, err)
	}
	for _, file := range found {
		text, _ := files.ReadFile(file)
		last := strings.TrimSpace(string(text[strings.LastIndex(string(text), "\nlocal"):]))
		if !slices.ContainsFunc(names(t), func(name string) bool {
			return strings.Contains(mustLoad(name).Body, last)
		}) {
			t.Errorf("no script includes %s", file)
		}
	}
}

func TestCheckCountsKeysAndArguments(t *testing.T) {
	for _, c := range []struct {
		s          *Script
		keys, args int
		want       string // "" for no error
	}{
		{PlainAcquire, 2, 3, ""},
		{PlainRelease, 3, 1, ""},
		{PlainRelease, 3, 3, ""},
		{PlainRelease, 3, 2,
			"rlock: script plain_release: 2 arguments, want 3: owner publish life"},
		{PlainAcquire, 1, 3, "rlock: script plain_acquire: 1 keys, want 2: lock latch"},
		{PlainAcquire, 2, 4, "rlock: script plain_acquire: 4 arguments, want 3: lease owner copy"},
		{PermitRelease, 4, 3, ""},
		{PermitRelease, 6, 3, ""},
		{PermitRelease, 3, 3,
			"rlock: script permit_release: 3 keys, want 5: counter leases channel latch claim..."},
		{ReadKey, 1, 1, ""},
		{ReadKey, 1, 5, ""},
		{ReadKey, 1, 0, "rlock: script read_key: 0 arguments, want 2: command arg..."},
	} {
		got := ""
		if err := c.s.Check(c.keys, c.args); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s, %d keys, %d arguments: %q", c.s.Name, c.keys, c.args, got)
		}
	}
}
