package syntax

import (
	"math"
	"strconv"

	"github.com/yuin/gopher-lua/ast"
)

// concat is a chain of ".." that is being read. It is not in the finished tree.
type concat struct {
	ast.ExprBase
	parts []ast.Expr
}

// finish returns the expression for a chain of "..". It is a call for a long chain, because the
// instruction needs a register for each part, and for one that gopher-lua would miscompile. It
// returns other expressions unchanged.
func (p *parser) finish(e ast.Expr) ast.Expr {
	c, ok := e.(*concat)
	if !ok {
		return e
	}
	line := c.Line()
	for i, part := range c.parts {
		c.parts[i] = single(part)
	}
	if len(c.parts) > maxDirectArgs || endsWithConcat(c.parts[len(c.parts)-1]) {
		return p.call(hidden(HiddenConcat, line), spread(c.parts, line), line)
	}
	e = c.parts[len(c.parts)-1]
	for i := len(c.parts) - 2; i >= 0; i-- {
		e = at(&ast.StringConcatOpExpr{Lhs: c.parts[i], Rhs: e}, line)
	}
	return e
}

// endsWithConcat reports whether the code of e ends with a concatenation that may not run. As
// the last part of a chain, gopher-lua's compiler takes it for the end of the same chain.
func endsWithConcat(e ast.Expr) bool {
	for {
		l, ok := e.(*ast.LogicalOpExpr)
		if !ok {
			return false
		}
		if _, ok := l.Rhs.(*ast.StringConcatOpExpr); ok {
			return true
		}
		e = l.Rhs
	}
}

// number returns a number literal with the value v. Its text is not the source's,
// because gopher-lua's compiler would read "010" as octal. p.values keeps the value for
// constants that are computed from this one.
func number(v float64, line int, p *parser) ast.Expr {
	text := strconv.FormatFloat(v, 'e', -1, 64)
	if v == math.Trunc(v) && v >= 0 && v < 1<<53 && !math.Signbit(v) {
		text = strconv.FormatInt(int64(v), 10)
	}
	n := at(&ast.NumberExpr{Value: text}, line)
	if p.values == nil {
		p.values = make(map[*ast.NumberExpr]float64)
	}
	p.values[n] = v
	return n
}
