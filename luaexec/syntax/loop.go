package syntax

import "github.com/yuin/gopher-lua/ast"

// gopher-lua's compiler closes the captured variables of a loop that "break"
// leaves only when some belong to the loop's own block. Those of the blocks
// inside would stay open, and functions that captured them would see what comes
// into their registers later. So where a "break" leaves such a block, the loop's
// own block gets a captured variable.

// loop is an open loop.
type loop struct {
	outside int  // the function's local variables that were visible before its body
	leaky   bool // a break leaves captured variables
}

func (p *parser) openLoop() {
	p.fn.loops = append(p.fn.loops, loop{outside: len(p.fn.locals)})
}

// closeLoop is the end of a loop's body.
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

// capturedVariable declares a variable that a function captures which is never
// made: "local pin if false then local function capture() return pin end end".
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
