package syntax

import (
	"github.com/yuin/gopher-lua/ast"

	"github.com/lockredis/lockredis/luaexec/lualib"
)

// operator is a binary operator with C Lua's priorities.
type operator struct {
	text        string
	left, right int
}

const unaryPriority = 8

var operators = map[int]operator{
	'+': {"+", 6, 6}, '-': {"-", 6, 6}, '*': {"*", 7, 7}, '/': {"/", 7, 7}, '%': {"%", 7, 7},
	'^': {"^", 10, 9}, tConcat: {"..", 5, 4},
	tNe: {"~=", 3, 3}, tEq: {"==", 3, 3},
	'<': {"<", 3, 3}, tLe: {"<=", 3, 3}, '>': {">", 3, 3}, tGe: {">=", 3, 3},
	tAnd: {"and", 2, 2}, tOr: {"or", 1, 1},
}

// exprList reads one or more expressions.
func (p *parser) exprList() []ast.Expr {
	list := []ast.Expr{p.expr()}
	occupied := 0
	for p.accept(',') {
		p.done(list[occupied])
		p.occupy(1)
		occupied++
		list = append(list, p.expr())
	}
	p.release(occupied)
	return list
}

// done sets the line of a variable or field to the line of the last token. C Lua generates
// the instruction that reads or sets it after it has read the next token.
func (p *parser) done(e ast.Expr) {
	switch e.(type) {
	case *ast.IdentExpr, *ast.AttrGetExpr:
		at(e, p.lastLine)
	}
}

// expr reads an expression.
func (p *parser) expr() ast.Expr { return p.finish(p.subexpr(0)) }

// subexpr reads an expression whose operators have a higher priority than limit. For a
// chain of ".." it returns *concat, which the caller extends or finishes.
func (p *parser) subexpr(limit int) ast.Expr {
	p.enter()
	var e ast.Expr
	switch p.tok.kind {
	case tNot, '-', '#':
		e = p.unary()
	default:
		e = p.simple()
	}
	for links := 0; ; links++ {
		op, ok := operators[p.tok.kind]
		if !ok || op.left <= limit {
			break
		}
		p.chained(links)
		p.advance()
		p.done(e)
		p.occupy(1)
		right := p.subexpr(op.right)
		p.release(1)
		e = p.binary(op.text, p.finish(e), right)
	}
	p.leave()
	return e
}

// unary reads a unary operator and its operand.
func (p *parser) unary() ast.Expr {
	kind := p.tok.kind
	p.advance()
	e := p.finish(p.subexpr(unaryPriority))
	line := p.lastLine
	switch kind {
	case tNot:
		return negation(e, line)
	case '-':
		if n, ok := e.(*ast.NumberExpr); ok {
			return number(-p.values[n], line, p)
		}
		return at(&ast.UnaryMinusOpExpr{Expr: e}, line)
	}
	return at(&ast.UnaryLenOpExpr{Expr: e}, line)
}

// binary returns the expression "left op right".
func (p *parser) binary(op string, left, right ast.Expr) ast.Expr {
	line := p.lastLine
	if op == ".." {
		parts := []ast.Expr{left}
		if c, ok := right.(*concat); ok {
			parts = append(parts, c.parts...)
		} else {
			parts = append(parts, right)
		}
		return at(&concat{parts: parts}, line)
	}
	right = p.finish(right)
	switch op {
	case "and", "or":
		return logical(op, left, right, line)
	case "%":
		if isNumber(left) && isNumber(right) {
			return p.call(hidden(HiddenMod, line), []ast.Expr{left, right}, line)
		}
	case "^":
		if isNumber(left) && isNumber(right) {
			return p.power(left, right, line)
		}
	}
	switch op {
	case "+", "-", "*", "/", "%", "^":
		return at(&ast.ArithmeticOpExpr{Operator: op, Lhs: left, Rhs: right}, line)
	}
	return at(&ast.RelationalOpExpr{Operator: op, Lhs: left, Rhs: right}, line)
}

// isNumber reports whether gopher-lua's compiler computes the value of e.
func isNumber(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.NumberExpr:
		return true
	case *ast.UnaryMinusOpExpr:
		return isNumber(e.Expr)
	case *ast.ArithmeticOpExpr:
		return isNumber(e.Lhs) && isNumber(e.Rhs)
	}
	return false
}

// power returns "left ^ right" for constants, or its value if both are literals.
func (p *parser) power(left, right ast.Expr, line int) ast.Expr {
	a, okA := left.(*ast.NumberExpr)
	b, okB := right.(*ast.NumberExpr)
	if okA && okB {
		if v := lualib.Pow(p.values[a], p.values[b]); v-v == 0 {
			return number(v, line, p)
		}
	}
	return p.call(hidden(HiddenPow, line), []ast.Expr{left, right}, line)
}

// simple reads a constant, "...", a function, a table or a primary expression.
func (p *parser) simple() ast.Expr {
	line := p.lx.line
	switch p.tok.kind {
	case tNumber:
		n := number(p.tok.num, line, p)
		p.advance()
		return n
	case tString:
		s := at(&ast.StringExpr{Value: p.tok.text}, line)
		p.advance()
		return s
	case tNil:
		p.advance()
		return at(&ast.NilExpr{}, line)
	case tTrue:
		p.advance()
		return at(&ast.TrueExpr{}, line)
	case tFalse:
		p.advance()
		return at(&ast.FalseExpr{}, line)
	case tDots:
		if !p.fn.vararg {
			p.failHere("cannot use '...' outside a vararg function")
		}
		p.advance()
		return at(&ast.Comma3Expr{}, line)
	case '{':
		return p.table()
	case tFunction:
		p.advance()
		return p.functionBody(false, line)
	}
	e, _ := p.primary()
	return e
}

// primary reads a name or an expression in parentheses, with the fields, indexes and
// calls after it. bare is false for an expression in parentheses with nothing after it.
func (p *parser) primary() (e ast.Expr, bare bool) {
	line := p.lx.line
	switch p.tok.kind {
	case '(':
		p.advance()
		e = single(p.expr())
		p.expectClosing(')', '(', line)
		p.done(e)
	case tName:
		name := p.tok.text
		p.advance()
		e, bare = p.variable(name, line), true
	default:
		p.failHere("unexpected symbol")
	}
	for links := 0; ; links++ {
		next := p.suffix(e)
		if next == nil {
			return e, bare
		}
		p.chained(links)
		e, bare = next, true
	}
}

// suffix reads one field, index or call after e. It returns nil if there is none.
func (p *parser) suffix(e ast.Expr) ast.Expr {
	switch p.tok.kind {
	case '.':
		p.advance()
		return p.field(e, p.name())
	case '[':
		p.advance()
		p.occupy(1)
		key := p.expr()
		p.release(1)
		line := p.lx.line
		p.expect(']')
		return at(&ast.AttrGetExpr{Object: e, Key: key}, line)
	case ':':
		p.advance()
		name := p.name()
		line := p.lx.line
		args := p.callArgs(2)
		return at(&ast.FuncCallExpr{Receiver: e, Method: name, Args: args}, line)
	case '(', tString, '{':
		line := p.lx.line
		return p.call(e, p.callArgs(1), line)
	}
	return nil
}

// field returns object.name. If the environment binds the field of a library, the
// result is a global.
func (p *parser) field(object ast.Expr, name string) ast.Expr {
	if lib, ok := object.(*ast.IdentExpr); ok && p.bound != nil && !p.isLocal(lib.Value) {
		if whole := lib.Value + "." + name; p.bound(whole) {
			return hidden(whole, p.lastLine)
		}
	}
	key := at(&ast.StringExpr{Value: name}, p.lastLine)
	return at(&ast.AttrGetExpr{Object: object, Key: key}, p.lastLine)
}

// variable returns a variable that is read, or that begins a longer target.
func (p *parser) variable(name string, line int) ast.Expr {
	if !p.isLocal(name) {
		switch name {
		case "load", "loadstring", "_G":
			p.loops = true
		case "arg":
			// In gopher-lua, "arg" is a local variable of the main function.
			key := at(&ast.StringExpr{Value: name}, line)
			return at(&ast.AttrGetExpr{Object: hidden(HiddenGlobals, line), Key: key}, line)
		}
	}
	return at(&ast.IdentExpr{Value: name}, line)
}

// functionBody reads parameters and statements up to "end".
func (p *parser) functionBody(method bool, line int) ast.Expr {
	p.loops = true
	p.useMemory(functionBytes)
	p.fn = &function{outer: p.fn, line: line}
	params := &ast.ParList{}
	if method {
		params.Names = append(params.Names, "self")
		p.declare("self")
	}
	p.expect('(')
	p.parameters(params)
	p.expect(')')
	if n := len(params.Names); n > 0 {
		p.fn.last = params.Names[n-1]
	}
	stmts := p.chunk()
	end := p.lx.line
	p.expectClosing(tEnd, tFunction, line)
	p.fn = p.fn.outer
	fn := at(&ast.FunctionExpr{ParList: params, Stmts: stmts}, line)
	fn.SetLastLine(end)
	return fn
}

// parameters reads the parameters of a function up to ")".
func (p *parser) parameters(params *ast.ParList) {
	var names []string
	for more := p.tok.kind != ')'; more; more = p.accept(',') {
		if p.tok.kind == tDots {
			p.advance()
			params.HasVargs = true
			p.fn.vararg = true
			names = append(names, "arg")
			break
		}
		if p.tok.kind != tName {
			p.failHere("<name> or '...' expected")
		}
		name := p.name()
		params.Names = append(params.Names, name)
		names = append(names, name)
		p.checkLocals(len(names))
	}
	p.declare(names...)
}
