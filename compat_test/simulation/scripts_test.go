package simulation

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
)

// script is a Lua script of rlock.
type script struct{ body, sha string }

func newScript(body string) script {
	sum := sha1.Sum([]byte(body))
	return script{body, hex.EncodeToString(sum[:])}
}

// rlockScripts reads the scripts from rlock's source, by the names of its variables.
// So the simulation runs what rlock sends, and rlock need not export it.
func rlockScripts(dir string) (map[string]script, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	values := map[string]ast.Expr{}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, decl := range file.Decls {
			group, ok := decl.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range group.Specs {
				if v, ok := spec.(*ast.ValueSpec); ok && len(v.Names) == len(v.Values) {
					for i, name := range v.Names {
						values[name.Name] = v.Values[i]
					}
				}
			}
		}
	}
	scripts := map[string]script{}
	for name, value := range values {
		made, ok := value.(*ast.CallExpr)
		if !ok || len(made.Args) != 1 || fmt.Sprint(made.Fun) != "newScript" {
			continue
		}
		body, err := text(made.Args[0], values)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		scripts[name] = newScript(body)
	}
	return scripts, nil
}

// text returns the value of an expression of strings, constants and +.
func text(e ast.Expr, values map[string]ast.Expr) (string, error) {
	switch e := e.(type) {
	case *ast.BasicLit:
		return strconv.Unquote(e.Value)
	case *ast.Ident:
		if v, ok := values[e.Name]; ok {
			return text(v, values)
		}
	case *ast.BinaryExpr:
		left, err := text(e.X, values)
		if err != nil {
			return "", err
		}
		right, err := text(e.Y, values)
		return left + right, err
	}
	return "", fmt.Errorf("no text: %T", e)
}
