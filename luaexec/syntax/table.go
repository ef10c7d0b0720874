package syntax

import "github.com/yuin/gopher-lua/ast"

// constructor is a table constructor that is being read.
type constructor struct {
	*ast.TableExpr
	lines    []int // the line of its start, and the lines of the ends of its keyed fields
	computed bool  // a key is not a string literal, so it may be nil or NaN
	waiting  int   // positional values in registers
}

// table reads a table constructor.
func (p *parser) table() ast.Expr {
	line := p.lx.line
	t := &constructor{TableExpr: at(&ast.TableExpr{}, line), lines: []int{line}}
	p.expect('{')
	p.occupy(1)
	for p.tok.kind != '}' {
		f := p.tableField(t)
		t.Fields = append(t.Fields, f)
		if f.Key == nil && t.waiting < maxDirectArgs {
			p.occupy(1)
			t.waiting++
		}
		if !p.accept(',') && !p.accept(';') {
			break
		}
		if f.Key == nil && p.tok.kind != '}' {
			p.done(f.Value)
		}
	}
	p.release(t.waiting + 1)
	p.expectClosing('}', '{', line)
	if n := len(t.Fields); n > 0 && t.Fields[n-1].Key == nil {
		p.done(t.Fields[n-1].Value)
	}
	p.noteLines(t)
	return t.TableExpr
}

// noteLines adds the lines of a constructor to Block.Marks if an instruction of it can
// fail on another line. gopher-lua's compiler gives all of them the line of the
// constructor.
func (p *parser) noteLines(t *constructor) {
	if t.computed && t.lines[len(t.lines)-1] != t.lines[0] {
		p.marks = append(p.marks, Mark{Lines: t.lines})
		t.SetLine(-len(p.marks))
	}
	t.SetLastLine(p.lastLine)
}

func (p *parser) tableField(t *constructor) *ast.Field {
	var key ast.Expr
	switch {
	case p.tok.kind == tName && p.lookahead().kind == '=':
		key = at(&ast.StringExpr{Value: p.name()}, p.lastLine)
		p.advance()
	case p.tok.kind == '[':
		p.advance()
		key = p.expr()
		p.expect(']')
		p.expect('=')
		_, literal := key.(*ast.StringExpr)
		t.computed = t.computed || !literal
	default:
		return &ast.Field{Value: p.expr()}
	}
	value := single(p.nextExpr())
	t.lines = append(t.lines, p.lastLine)
	return &ast.Field{Key: key, Value: value}
}

// nextExpr reads an expression while one more register is occupied.
func (p *parser) nextExpr() ast.Expr {
	p.occupy(1)
	e := p.expr()
	p.release(1)
	return e
}
