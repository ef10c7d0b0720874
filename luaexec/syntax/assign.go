package syntax

import "github.com/yuin/gopher-lua/ast"

// assignment reads the rest of "a, b.c = x, y" after the first target. bare is false if
// the target is in parentheses.
func (p *parser) assignment(first ast.Expr, bare bool, line int) ast.Stmt {
	targets := []ast.Expr{p.target(first, bare)}
	for p.accept(',') {
		e, bare := p.primary()
		targets = append(targets, p.target(e, bare))
		if room := maxLevels - p.levels; len(targets)-1 > room {
			p.limit(p.fn, room, "variables in assignment")
		}
	}
	p.expect('=')
	values := p.exprList()
	for _, t := range targets {
		p.done(t)
	}
	if len(targets) > 1 && anyVariable(targets) || p.miscompiled(targets[0], values[0]) {
		return assignSeparately(targets, values, line)
	}
	return at(&ast.AssignStmt{Lhs: targets, Rhs: values}, line)
}

// miscompiled reports whether gopher-lua's compiler would generate wrong code for
// "target = value". If target is a local variable, "f() and x" stores nothing when f()
// is false. If it is the last parameter, a call overwrites it with the called function.
func (p *parser) miscompiled(target, value ast.Expr) bool {
	name, ok := target.(*ast.IdentExpr)
	if !ok || !p.fn.declares(name.Value) {
		return false
	}
	switch value.(type) {
	case *ast.LogicalOpExpr:
		return true
	case *ast.FuncCallExpr:
		return name.Value == p.fn.last
	}
	return false
}

// anyVariable reports whether one of the targets is a variable rather than a field.
func anyVariable(targets []ast.Expr) bool {
	for _, t := range targets {
		if _, ok := t.(*ast.IdentExpr); ok {
			return true
		}
	}
	return false
}

// assignSeparately evaluates the tables and keys of the targets, then all values, and
// then assigns them. Without this, gopher-lua's compiler stores into a local variable
// before later values have read its old value, and stores the value of a wrong register
// into an outer function's variable.
func assignSeparately(targets, values []ast.Expr, line int) ast.Stmt {
	var names, temps []string
	var parts []ast.Expr
	keep := func(e ast.Expr) ast.Expr {
		if _, constant := e.(*ast.StringExpr); constant {
			return e
		}
		name := "(part " + itoa(len(names)) + ")"
		names, parts = append(names, name), append(parts, e)
		return hidden(name, line)
	}
	for _, t := range targets {
		if field, ok := t.(*ast.AttrGetExpr); ok {
			field.Object = keep(field.Object)
			field.Key = keep(field.Key)
		}
	}
	var stmts []ast.Stmt
	if len(names) > 0 {
		stmts = append(stmts, at(&ast.LocalAssignStmt{Names: names, Exprs: parts}, line))
	}
	for i := range targets {
		temps = append(temps, "(value "+itoa(i)+")")
	}
	stmts = append(stmts, at(&ast.LocalAssignStmt{Names: temps, Exprs: values}, line))
	for i := len(targets) - 1; i >= 0; i-- {
		stmts = append(stmts, at(&ast.AssignStmt{
			Lhs: []ast.Expr{targets[i]}, Rhs: []ast.Expr{hidden(temps[i], line)},
		}, line))
	}
	return at(&ast.DoBlockStmt{Stmts: stmts}, line)
}

// target returns e as the target of an assignment. A global, and a field that became a
// global, become a field of a read-only table. It fails if e is not a target.
func (p *parser) target(e ast.Expr, bare bool) ast.Expr {
	if !bare {
		p.failHere("syntax error")
	}
	switch e := e.(type) {
	case *ast.IdentExpr:
		if p.isLocal(e.Value) {
			return e
		}
		return p.readonlyField(e.Value, e.Line())
	case *ast.AttrGetExpr:
		return e
	}
	p.failHere("syntax error")
	return nil
}

// assignable returns the target for a name.
func (p *parser) assignable(name string, line int) ast.Expr {
	if p.isLocal(name) {
		return at(&ast.IdentExpr{Value: name}, line)
	}
	return p.readonlyField(name, line)
}

func (p *parser) readonlyField(name string, line int) ast.Expr {
	return at(&ast.AttrGetExpr{
		Object: hidden(HiddenReadonly, line),
		Key:    at(&ast.StringExpr{Value: name}, line),
	}, line)
}
