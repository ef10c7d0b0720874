package syntax

import "github.com/yuin/gopher-lua/ast"

func (p *parser) forStatement(line int) ast.Stmt {
	p.advance()
	p.loops = true
	outer := len(p.fn.locals)
	name := p.name()
	var s ast.Stmt
	switch p.tok.kind {
	case '=':
		s = p.numericFor(name, line)
	case ',', tIn:
		s = p.genericFor(name, line)
	default:
		p.failHere("'=' or 'in' expected")
	}
	p.expectClosing(tEnd, tFor, line)
	s.SetLastLine(p.lastLine)
	p.fn.locals = p.fn.locals[:outer]
	return s
}

func (p *parser) numericFor(name string, line int) ast.Stmt {
	p.checkLocals(4)
	p.advance()
	marks := len(p.marks)
	s := at(&ast.NumberForStmt{Name: name}, line)
	s.Init = p.forBound(BoundInitial)
	p.occupy(1)
	p.expect(',')
	s.Limit = p.forBound(BoundLimit)
	if p.accept(',') {
		p.occupy(1)
		s.Step = p.forBound(BoundStep)
		p.release(1)
	}
	p.release(1)
	p.declare("(for index)", "(for limit)", "(for step)")
	p.expect(tDo)
	for i := marks; i < len(p.marks); i++ {
		if p.marks[i].Lines == nil {
			p.marks[i].Lines = []int{p.lastLine}
		}
	}
	s.Stmts = p.forBody(name)
	return s
}

// forBound reads a bound of a numeric for. It marks the conversion to a number, which a
// constant and # do not need. The caller sets the line of the mark.
func (p *parser) forBound(bound int) ast.Expr {
	e := p.expr()
	if _, length := e.(*ast.UnaryLenOpExpr); length || isNumber(e) {
		return e
	}
	p.marks = append(p.marks, Mark{Bound: bound})
	return at(&ast.UnaryMinusOpExpr{Expr: single(e)}, -len(p.marks))
}

func (p *parser) genericFor(name string, line int) ast.Stmt {
	names := []string{name}
	for p.accept(',') {
		names = append(names, p.name())
		p.checkLocals(len(names) + 3)
	}
	s := &ast.GenericForStmt{Names: names}
	p.expect(tIn)
	at(s, p.lx.line)
	exprs := p.exprList()
	p.declare("(for generator)", "(for state)", "(for control)")
	p.expect(tDo)
	var before ast.Stmt
	before, s.Exprs = forValues(names, exprs, line)
	s.Stmts = padded(p.forBody(names...), line)
	if before == nil {
		return s
	}
	return at(&ast.DoBlockStmt{Stmts: []ast.Stmt{before, s}}, line)
}

// forValues returns exactly three values for the list of a generic for. gopher-lua takes
// as many values as there are names, and leaves the other registers as they are. If the
// list ends with a call whose results would be lost, the values are local variables, and
// before is the statement that declares them.
func forValues(names []string, exprs []ast.Expr, line int) (before ast.Stmt, values []ast.Expr) {
	last := exprs[len(exprs)-1]
	if !severalValues(last) {
		for len(exprs) < 3 {
			exprs = append(exprs, at(&ast.NilExpr{}, line))
		}
		return nil, exprs
	}
	if len(exprs) <= len(names) || len(exprs) > 3 {
		return nil, exprs
	}
	vars := []string{"(generator)", "(state)", "(control)"}
	for _, v := range vars {
		values = append(values, hidden(v, line))
	}
	return at(&ast.LocalAssignStmt{Names: vars, Exprs: exprs}, line), values
}

// forBody reads the block after "do". names are the loop's variables.
func (p *parser) forBody(names ...string) []ast.Stmt {
	p.openLoop()
	outer := len(p.fn.locals)
	p.declare(names...)
	stmts := p.chunk()
	p.fn.locals = p.fn.locals[:outer]
	return p.closeLoop(stmts)
}
