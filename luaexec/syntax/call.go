package syntax

import "github.com/yuin/gopher-lua/ast"

// The names in the environment that rewritten code uses. None of them is a valid name
// in Lua.
const (
	// HiddenConcat takes the operands of a long chain of ".." and returns its value.
	HiddenConcat = "(concat)"
	// HiddenMod is the operator % for constants.
	HiddenMod = "(mod)"
	// HiddenPow is the operator ^ for constants.
	HiddenPow = "(pow)"
	// HiddenSpread takes a table, the number of its elements and further values. It
	// returns the elements and the further values.
	HiddenSpread = "(spread)"
	// HiddenFalse is the value false.
	HiddenFalse = "(false)"
	// HiddenReadonly is a read-only table: setting a field throws.
	HiddenReadonly = "(readonly)"
	// HiddenGlobals is the value of _G.
	HiddenGlobals = "(globals)"
)

// maxDirectArgs is the number of arguments that a call passes in registers.
const maxDirectArgs = 50

// maxArgs is the number of arguments for which C Lua has registers.
const maxArgs = 249

// hidden returns the global or local variable with this name.
func hidden(name string, line int) ast.Expr { return at(&ast.IdentExpr{Value: name}, line) }

func (p *parser) call(fn ast.Expr, args []ast.Expr, line int) ast.Expr {
	return at(&ast.FuncCallExpr{Func: fn, Args: args}, line)
}

// single limits an expression that may have several values to the first one.
func single(e ast.Expr) ast.Expr {
	switch e := e.(type) {
	case *ast.FuncCallExpr:
		e.AdjustRet = true
	case *ast.Comma3Expr:
		e.AdjustRet = true
	}
	return e
}

// severalValues reports whether an expression at the end of a list may have several
// values.
func severalValues(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.FuncCallExpr:
		return !e.AdjustRet
	case *ast.Comma3Expr:
		return !e.AdjustRet
	}
	return false
}

// callArgs reads the arguments of a call. occupied is the number of registers that the call
// already holds: the function, and the object of a method.
func (p *parser) callArgs(occupied int) []ast.Expr {
	line := p.lx.line
	switch p.tok.kind {
	case tString:
		s := at(&ast.StringExpr{Value: p.tok.text}, line)
		p.advance()
		return []ast.Expr{s}
	case '{':
		p.occupy(occupied)
		t := p.table()
		p.release(occupied)
		return []ast.Expr{t}
	case '(':
	default:
		p.failHere("function arguments expected")
	}
	if line != p.lastLine {
		p.failHere("ambiguous syntax (function call x new statement)")
	}
	p.advance()
	var args []ast.Expr
	p.occupy(occupied)
	for more := p.tok.kind != ')'; more; more = p.accept(',') {
		if len(args) > 0 {
			p.done(args[len(args)-1])
		}
		args = append(args, p.expr())
		if len(args) <= maxDirectArgs {
			p.occupy(1)
			occupied++
		}
		if len(args) > maxArgs {
			p.failHere("function or expression too complex")
		}
	}
	p.release(occupied)
	p.expectClosing(')', '(', line)
	if len(args) > 0 {
		p.done(args[len(args)-1])
	}
	return spread(args, line)
}

// spread returns args, or for a long list a call of HiddenSpread. All arguments except
// the last are then elements of a table, which gopher-lua fills in blocks.
func spread(args []ast.Expr, line int) []ast.Expr {
	if len(args) <= maxDirectArgs {
		return args
	}
	last := args[len(args)-1]
	fields := make([]*ast.Field, len(args)-1)
	for i, a := range args[:len(args)-1] {
		fields[i] = &ast.Field{Value: single(a)}
	}
	list := at(&ast.TableExpr{Fields: fields}, line)
	count := at(&ast.NumberExpr{Value: itoa(len(fields))}, line)
	all := &ast.FuncCallExpr{Func: hidden(HiddenSpread, line), Args: []ast.Expr{list, count, last}}
	return []ast.Expr{at(all, line)}
}
