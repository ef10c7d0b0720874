package syntax

import (
	"strconv"
	"strings"

	"github.com/yuin/gopher-lua/ast"
)

// Block is a parsed chunk.
type Block struct {
	Stmts []ast.Stmt
	// Loops is true when the code could run for ever: it has a loop or a
	// function, or names a global that can make one (load, loadstring, _G).
	Loops bool
	// Fields are the lines of table constructors that have computed keys on
	// several lines: its own, and those of the keyed fields. Number n stands for
	// it in the tree as the line -1-n.
	Fields [][]int
}

// Options says what the environment offers.
type Options struct {
	// Name stands before the line in messages.
	Name string
	// Bound reports whether the environment has an entry "library.field"; such
	// a field of a global table is then read from there. Nil means none.
	Bound func(name string) bool
	// Memory is about how many bytes compiling may take, tree and code; 0: any
	// number.
	Memory int
}

// Parse reads source as the body of a vararg function. The error is an *Error.
func Parse(source string, opts Options) (block Block, err error) {
	p := &parser{
		lx:        lexer{name: opts.Name, src: source, line: 1},
		bound:     opts.Bound,
		memory:    opts.Memory,
		checksLen: strings.Contains(source, "__len"),
	}
	defer func() {
		if e := recover(); e != nil {
			failure, ok := e.(*Error)
			if !ok {
				panic(e)
			}
			err = failure
		}
	}()
	p.fn = &function{vararg: true}
	p.advance()
	stmts := p.chunk()
	p.expect(tEOF)
	return Block{Stmts: stmts, Loops: p.loops, Fields: p.fields}, nil
}

// parser is one pass over one chunk. Its methods follow the productions of
// C Lua's parser, so that errors come at the same places.
type parser struct {
	lx        lexer
	tok       token // the current one
	ahead     token // the one after it, when hasAhead
	hasAhead  bool
	lastLine  int // of the token before the current one
	fn        *function
	levels    int
	searches  int // comparisons that the compiler will make, see weigh
	long      int
	memory    int // Options.Memory
	taken     int // of it
	loops     bool
	fields    [][]int // Block.Fields
	checksLen bool    // some metatable may have __len, which C Lua ignores for tables
	bound     func(string) bool
	values    map[*ast.NumberExpr]float64
}

func itoa(n int) string { return strconv.Itoa(n) }

func (p *parser) advance() {
	p.lastLine = p.lx.line
	if p.hasAhead {
		p.tok, p.hasAhead = p.ahead, false
		return
	}
	p.tok = p.lx.next()
	p.weigh()
	p.take(tokenBytes)
}

// What gopher-lua takes for a token and for a function, at most, in bytes, while
// it compiles.
const (
	tokenBytes    = 256
	functionBytes = 24 << 10
)

func (p *parser) take(bytes int) {
	if p.taken += bytes; p.memory > 0 && p.taken > p.memory {
		p.lx.fail("not enough memory", "")
	}
}

// maxSearches bounds weigh's count: about a second. C Lua's own limit is 262143
// constants in a function.
const maxSearches = 1 << 28

// weigh foresees what the current token costs gopher-lua's compiler: it looks
// through all constants of a function for each one, so that a script of a
// megabyte could keep it busy for minutes.
func (p *parser) weigh() {
	switch p.tok.kind {
	case tName, tString, tNumber:
	default:
		return
	}
	key := token{kind: p.tok.kind, text: p.tok.text, num: p.tok.num}
	place, known := p.fn.constants[key]
	if !known {
		if p.fn.constants == nil {
			p.fn.constants = map[token]int{}
		}
		place = len(p.fn.constants)
		p.fn.constants[key] = place
	}
	if p.searches += place; p.searches > maxSearches {
		p.lx.fail("constant table overflow", "")
	}
}

func (p *parser) lookahead() token {
	if !p.hasAhead {
		p.ahead, p.hasAhead = p.lx.next(), true
	}
	return p.ahead
}

func (p *parser) failHere(msg string) { p.lx.fail(msg, p.tok.near()) }

func (p *parser) accept(kind int) bool {
	if p.tok.kind != kind {
		return false
	}
	p.advance()
	return true
}

func (p *parser) check(kind int) {
	if p.tok.kind != kind {
		p.failHere("'" + kindText(kind) + "' expected")
	}
}

func (p *parser) expect(kind int) {
	p.check(kind)
	if kind != tEOF {
		p.advance()
	}
}

// expectClosing wants what closes a construct opened at line.
func (p *parser) expectClosing(what, opener, line int) {
	if p.tok.kind == what {
		p.advance()
		return
	}
	if line == p.lx.line {
		p.failHere("'" + kindText(what) + "' expected")
	}
	p.failHere("'" + kindText(what) + "' expected (to close '" + kindText(opener) + "' at line " + itoa(line) + ")")
}

func (p *parser) name() string {
	if p.tok.kind != tName {
		p.failHere("'<name>' expected")
	}
	text := p.tok.text
	p.advance()
	return text
}

// at puts a position on a node.
func at[N ast.PositionHolder](n N, line int) N {
	n.SetLine(line)
	n.SetLastLine(line)
	return n
}

func (p *parser) blockEnds() bool {
	switch p.tok.kind {
	case tElse, tElseif, tEnd, tUntil, tEOF:
		return true
	}
	return false
}

func (p *parser) chunk() []ast.Stmt {
	p.enter()
	var stmts []ast.Stmt
	for last := false; !last && !p.blockEnds(); {
		var s ast.Stmt
		s, last = p.statement()
		if s != nil {
			stmts = append(stmts, s)
		}
		p.accept(';')
	}
	p.leave()
	return stmts
}

// block is a chunk whose local variables end with it.
func (p *parser) block() []ast.Stmt {
	outer := len(p.fn.locals)
	stmts := p.chunk()
	p.fn.locals = p.fn.locals[:outer]
	return stmts
}

func (p *parser) statement() (s ast.Stmt, last bool) {
	line := p.lx.line
	switch p.tok.kind {
	case tIf:
		return p.ifStatement(line), false
	case tWhile:
		return p.whileStatement(line), false
	case tDo:
		p.advance()
		s := at(&ast.DoBlockStmt{Stmts: p.block()}, line)
		p.expectClosing(tEnd, tDo, line)
		return s, false
	case tFor:
		return p.forStatement(line), false
	case tRepeat:
		return p.repeatStatement(line), false
	case tFunction:
		return p.functionStatement(line), false
	case tLocal:
		p.advance()
		if p.accept(tFunction) {
			return p.localFunction(line), false
		}
		return p.localStatement(line), false
	case tReturn:
		return p.returnStatement(line), true
	case tBreak:
		p.advance()
		return p.breakStatement(line), true
	}
	return p.expressionStatement(line), false
}

func (p *parser) ifStatement(line int) ast.Stmt {
	first := p.testThenBlock(line)
	last, links := first, 0
	for p.tok.kind == tElseif {
		links++
		p.chained(links)
		next := p.testThenBlock(p.lx.line)
		last.Else = []ast.Stmt{next}
		last = next
	}
	if p.accept(tElse) {
		last.Else = p.block()
	}
	p.expectClosing(tEnd, tIf, line)
	return first
}

func (p *parser) testThenBlock(line int) *ast.IfStmt {
	p.advance()
	cond := condition(p.expr())
	p.expect(tThen)
	return at(&ast.IfStmt{Condition: cond, Then: p.block()}, line)
}

func (p *parser) whileStatement(line int) ast.Stmt {
	p.advance()
	p.loops = true
	cond := condition(p.expr())
	p.expect(tDo)
	p.openLoop()
	body := p.closeLoop(p.block())
	s := at(&ast.WhileStmt{Condition: cond, Stmts: padded(body, line)}, line)
	p.expectClosing(tEnd, tWhile, line)
	s.SetLastLine(p.lastLine)
	return s
}

// repeatStatement: the condition sees the block's local variables.
func (p *parser) repeatStatement(line int) ast.Stmt {
	p.advance()
	p.loops = true
	p.openLoop()
	outer := len(p.fn.locals)
	stmts := p.closeLoop(p.chunk())
	p.expectClosing(tUntil, tRepeat, line)
	s := at(&ast.RepeatStmt{Stmts: padded(stmts, line), Condition: condition(p.expr())}, line)
	s.SetLastLine(p.lastLine)
	p.fn.locals = p.fn.locals[:outer]
	return s
}

func (p *parser) localStatement(line int) ast.Stmt {
	names := []string{p.name()}
	p.checkLocals(len(names))
	for p.accept(',') {
		names = append(names, p.name())
		p.checkLocals(len(names))
	}
	s := at(&ast.LocalAssignStmt{Names: names}, line)
	if p.accept('=') {
		s.Exprs = p.exprList()
	}
	if len(s.Exprs) == 1 {
		if fn, ok := s.Exprs[0].(*ast.FunctionExpr); ok && len(names) == 1 {
			// Alone it would be compiled as "local function", and see itself.
			s.Exprs = append(s.Exprs, at(&ast.NilExpr{}, fn.LastLine()))
		}
	}
	p.declare(names...)
	return s
}

func (p *parser) localFunction(line int) ast.Stmt {
	name := p.name()
	p.declare(name)
	fn := p.functionBody(false, p.lx.line)
	return at(&ast.LocalAssignStmt{Names: []string{name}, Exprs: []ast.Expr{fn}}, line)
}

func (p *parser) returnStatement(line int) ast.Stmt {
	p.advance()
	s := at(&ast.ReturnStmt{}, line)
	if !p.blockEnds() && p.tok.kind != ';' {
		s.Exprs = p.exprList()
	}
	return s
}

// functionStatement is "function a.b:c() … end".
func (p *parser) functionStatement(line int) ast.Stmt {
	p.advance()
	var target ast.Expr
	name := p.name()
	if p.tok.kind != '.' && p.tok.kind != ':' {
		target = p.assignable(name, line)
		fn := p.functionBody(false, line)
		return at(&ast.AssignStmt{Lhs: []ast.Expr{target}, Rhs: []ast.Expr{fn}}, line)
	}
	target = p.variable(name, p.lastLine)
	for links := 0; p.tok.kind == '.'; links++ {
		p.chained(links)
		p.advance()
		target = p.field(target, p.name())
	}
	method := p.accept(':')
	if method {
		target = p.field(target, p.name())
	}
	at(target, line)
	fn := p.functionBody(method, line)
	return at(&ast.AssignStmt{Lhs: []ast.Expr{target}, Rhs: []ast.Expr{fn}}, line)
}

// expressionStatement is a call or an assignment.
func (p *parser) expressionStatement(line int) ast.Stmt {
	e, bare := p.primary()
	if call, ok := e.(*ast.FuncCallExpr); ok && bare {
		return at(&ast.FuncCallStmt{Expr: call}, line)
	}
	return p.assignment(e, bare, line)
}
