package syntax

import "github.com/yuin/gopher-lua/ast"

// gopher-lua's compiler shortens a jump that leads to another jump. When that
// one stands before it, as at the start of a loop's body, it has been patched
// already and is misread: the program jumps anywhere. So no body of a loop
// starts with a jump here. Jumps come from "break" and from conditions that are
// constant.

// constant reports whether e is a constant, and whether it counts as true.
func constant(e ast.Expr) (truth, ok bool) {
	switch e.(type) {
	case *ast.NilExpr, *ast.FalseExpr:
		return false, true
	case *ast.TrueExpr, *ast.NumberExpr, *ast.StringExpr:
		return true, true
	}
	return false, false
}

// condition is e as the condition of a statement: a constant that counts as
// false is read from the environment.
func condition(e ast.Expr) ast.Expr {
	if truth, ok := constant(e); ok && !truth {
		return hidden(HiddenFalse, e.Line())
	}
	return e
}

// logical is "left op right", decided at once when left is a constant.
func logical(op string, left, right ast.Expr, line int) ast.Expr {
	if truth, ok := constant(left); ok {
		if truth == (op == "and") {
			return single(right)
		}
		return left
	}
	return at(&ast.LogicalOpExpr{Operator: op, Lhs: left, Rhs: right}, line)
}

// negation is "not e".
func negation(e ast.Expr, line int) ast.Expr {
	switch truth, ok := constant(e); {
	case ok && truth:
		return at(&ast.FalseExpr{}, line)
	case ok:
		return at(&ast.TrueExpr{}, line)
	}
	return at(&ast.UnaryNotOpExpr{Expr: e}, line)
}

// padded is a loop's body that does not start with a jump.
func padded(body []ast.Stmt, line int) []ast.Stmt {
	if !startsWithJump(body) {
		return body
	}
	pad := at(&ast.LocalAssignStmt{Names: []string{"(pad)"}}, line)
	return append([]ast.Stmt{pad}, body...)
}

// startsWithJump is true for an empty body too: what follows it is a jump.
func startsWithJump(body []ast.Stmt) bool {
	if len(body) == 0 {
		return true
	}
	switch s := body[0].(type) {
	case *ast.BreakStmt:
		return true
	case *ast.IfStmt:
		_, ok := constant(s.Condition)
		return ok
	case *ast.WhileStmt:
		_, ok := constant(s.Condition)
		return ok
	case *ast.RepeatStmt:
		return startsWithJump(s.Stmts)
	case *ast.DoBlockStmt:
		return startsWithJump(s.Stmts)
	}
	return false
}
