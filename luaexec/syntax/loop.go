package syntax

import "github.com/yuin/gopher-lua/ast"

// When "break" leaves a loop, gopher-lua's compiler closes captured variables only if
// the loop's own block has one. Otherwise the captured variables of inner blocks stay
// open, and closures see the later contents of their registers. So if a "break" leaves
// an inner block with captured variables, the loop's own block gets a captured variable.

// loop is an open loop.
type loop struct {
	outside int  // number of the function's local variables that are visible before its body
	leaky   bool // a break leaves captured variables
}

func (p *parser) openLoop() {
	p.fn.loops = append(p.fn.loops, loop{outside: len(p.fn.locals)})
}

// closeLoop ends a loop. It returns its body, with a captured variable if necessary.
func (p *parser) closeLoop(body []ast.Stmt) []ast.Stmt {
	last := len(p.fn.loops) - 1
	leaky := p.fn.loops[last].leaky
	p.fn.loops = p.fn.loops[:last]
	if !leaky {
		return body
	}
	return append(capturedVariable(p.lastLine), body...)
}

func (p *parser) breakStatement(line int) ast.Stmt {
	if len(p.fn.loops) == 0 {
		p.failHere("no loop to break")
	}
	l := &p.fn.loops[len(p.fn.loops)-1]
	for _, v := range p.fn.locals[l.outside:] {
		l.leaky = l.leaky || v.captured
	}
	return at(&ast.BreakStmt{}, line)
}

// capturedVariable returns statements that declare a captured variable: "local pin if
// false then local function capture() return pin end end".
func capturedVariable(line int) []ast.Stmt {
	const name = "(pin)"
	use := at(&ast.ReturnStmt{Exprs: []ast.Expr{hidden(name, line)}}, line)
	fn := at(&ast.FunctionExpr{ParList: &ast.ParList{}, Stmts: []ast.Stmt{use}}, line)
	capture := at(&ast.LocalAssignStmt{Names: []string{"(capture)"}, Exprs: []ast.Expr{fn}}, line)
	return []ast.Stmt{
		at(&ast.LocalAssignStmt{Names: []string{name}}, line),
		at(&ast.IfStmt{Condition: hidden(HiddenFalse, line), Then: []ast.Stmt{capture}}, line),
	}
}
