package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strings"
)

// block is a line of a profile without its counts: some statements of a function.
type block struct {
	file      string
	line, col int // of its begin
}

// before reports whether b begins before another block of the file.
func (b block) before(other block) bool {
	return b.line < other.line || b.line == other.line && b.col < other.col
}

// counts parses a profile in the form that "go tool covdata textfmt" writes.
func counts(profile string) (map[block]int64, error) {
	all := map[block]int64{}
	for line := range strings.Lines(profile) {
		if strings.HasPrefix(line, "mode:") {
			continue
		}
		var b block
		var endLine, endCol, statements int
		var n int64
		colon := strings.LastIndexByte(line, ':')
		if colon < 0 {
			return nil, fmt.Errorf("profile line %q has no file", line)
		}
		b.file = line[:colon]
		if _, err := fmt.Sscanf(line[colon+1:], "%d.%d,%d.%d %d %d",
			&b.line, &b.col, &endLine, &endCol, &statements, &n); err != nil {
			return nil, fmt.Errorf("profile line %q: %w", line, err)
		}
		all[b] += n
	}
	return all, nil
}

// entered returns the functions that each of n requests has entered, sorted by name: the first block
// has run n times more in the second profile than in the first. A hundredth may be missing, as a server
// without requests waits a few times more, or less. source reads a file of the profiles.
func entered(none, all string, n int64, source func(name string) ([]byte, error)) ([]visit, error) {
	before, err := counts(none)
	if err != nil {
		return nil, err
	}
	after, err := counts(all)
	if err != nil {
		return nil, err
	}
	first, files := map[string]block{}, map[string]functions{}
	for b, count := range after {
		if count == before[b] {
			continue
		}
		f, known := files[b.file]
		if !known {
			text, err := source(b.file)
			if err == nil {
				f, err = parse(b.file, text)
			}
			if err != nil {
				return nil, err
			}
			files[b.file] = f
		}
		name := f.around(b)
		if other, known := first[name]; !known || b.before(other) {
			first[name] = b
		}
	}
	var visits []visit
	for _, name := range slices.Sorted(maps.Keys(first)) {
		if ran := after[first[name]] - before[first[name]]; ran >= n-n/100 {
			visits = append(visits, visit{name, float64(ran) / float64(n)})
		}
	}
	return visits, nil
}

// visit is a function that each request enters.
type visit struct {
	name  string
	times float64 // that a request enters it, on average
}

// functions are the functions of a file, the inner ones behind those around them.
type functions []function

type function struct {
	name       string
	begin, end token.Position
}

// parse finds the functions of a file. A literal has the name of the function around it and its
// line.
func parse(file string, text []byte) (functions, error) {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, file, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	dir := strings.TrimPrefix(file[:strings.LastIndexByte(file, '/')+1], module)
	var found functions
	add := func(name string, n ast.Node) {
		found = append(found, function{name, set.Position(n.Pos()), set.Position(n.End())})
	}
	outer := "var"
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			outer = dir + receiver(n) + n.Name.Name
			add(outer, n)
		case *ast.FuncLit:
			add(fmt.Sprintf("%s, literal in line %d", outer, set.Position(n.Pos()).Line), n)
		}
		return true
	})
	return found, nil
}

// receiver returns the type of a method's receiver with a point, "" for a function.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	of := f.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	if generic, ok := of.(*ast.IndexExpr); ok {
		of = generic.X
	}
	if name, ok := of.(*ast.Ident); ok {
		return name.Name + "."
	}
	return "?."
}

// around returns the name of the innermost function with block b.
func (f functions) around(b block) string {
	for _, fn := range slices.Backward(f) {
		begins := b.line > fn.begin.Line || b.line == fn.begin.Line && b.col >= fn.begin.Column
		if begins && (b.line < fn.end.Line || b.line == fn.end.Line && b.col < fn.end.Column) {
			return fn.name
		}
	}
	return b.file
}
