package syntax

import "github.com/yuin/gopher-lua/ast"

// gopher-lua's compiler shortens a jump to another jump. If the other jump comes before
// it, as at the start of a loop's body, the compiler has already patched that jump and
// misreads it: the program would jump to a wrong place. So this package never lets the
// body of a loop start with a jump. Jumps come from "break" and from constant
// conditions.

// constant reports whether e is a constant, and the truth of its value.
func constant(e ast.Expr) (truth, ok bool) {
	switch e.(type) {
	case *ast.NilExpr, *ast.FalseExpr:
		return false, true
	case *ast.TrueExpr, *ast.NumberExpr, *ast.StringExpr:
		return true, true
	}
	return false, false
}

// condition returns e as the condition of a statement. A constant that is false is
// replaced by a global with the value false.
func condition(e ast.Expr) ast.Expr {
	if truth, ok := constant(e); ok && !truth {
		return hidden(HiddenFalse, e.Line())
	}
	return e
}

// logical returns "left op right", or one of the operands if left is a constant.
func logical(op string, left, right ast.Expr, line int) ast.Expr {
	if truth, ok := constant(left); ok {
		if truth == (op == "and") {
			return single(right)
		}
		return left
	}
	return at(&ast.LogicalOpExpr{Operator: op, Lhs: left, Rhs: right}, line)
}

// negation returns "not e", or its value if e is a constant.
func negation(e ast.Expr, line int) ast.Expr {
	switch truth, ok := constant(e); {
	case ok && truth:
		return at(&ast.FalseExpr{}, line)
	case ok:
		return at(&ast.TrueExpr{}, line)
	}
	return at(&ast.UnaryNotOpExpr{Expr: e}, line)
}

// padded returns the body of a loop, with a statement before it if it starts with a
// jump.
func padded(body []ast.Stmt, line int) []ast.Stmt {
	if !startsWithJump(body) {
		return body
	}
	pad := at(&ast.LocalAssignStmt{Names: []string{"(pad)"}}, line)
	return append([]ast.Stmt{pad}, body...)
}

// startsWithJump reports whether the code of a loop's body starts with a jump. That is
// true for an empty body: the jump back to the start follows it.
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
