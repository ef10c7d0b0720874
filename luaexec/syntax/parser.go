package syntax

import (
	"strconv"
	"strings"

	"github.com/yuin/gopher-lua/ast"
)

// Block is a parsed chunk.
type Block struct {
	Stmts []ast.Stmt
	// Loops is true if the code may run for ever: it has a loop or a function, or
	// uses a global that can make one (load, loadstring, _G).
	Loops bool
	// Marks are nodes that gopher-lua's compiler cannot express. In the tree, the node of
	// Marks[n] has the line -1-n.
	Marks []Mark
}

// Options configures Parse.
type Options struct {
	// Name is the name of the chunk in error messages.
	Name string
	// Bound reports whether the environment has a global with a name such as
	// "redis.call". The field "call" of the global "redis" is then read from there.
	// nil means that there are none.
	Bound func(name string) bool
	// Memory is the approximate number of bytes that compiling may allocate, for the
	// tree and the code; 0 means no limit.
	Memory int
}

// Parse parses source as the body of a vararg function. The error is an *Error.
func Parse(source string, opts Options) (block Block, err error) {
	p := &parser{
		lx:     lexer{name: opts.Name, src: source, line: 1},
		bound:  opts.Bound,
		memory: opts.Memory,
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
	return Block{Stmts: stmts, Loops: p.loops, Marks: p.marks}, nil
}

// parser is one pass over one chunk. Its methods follow the productions of C Lua's
// parser, so that errors have the same places.
type parser struct {
	lx       lexer
	tok      token // current token
	ahead    token // next token, if hasAhead
	hasAhead bool
	lastLine int // line at the end of the token before tok
	fn       *function
	levels   int
	searches int // comparisons that the compiler will make, see countConstant
	long     int // links of long chains, see chained
	memory   int // Options.Memory
	used     int // estimated bytes used so far
	loops    bool
	marks    []Mark // Block.Marks
	bound    func(string) bool
	values   map[*ast.NumberExpr]float64 // values of number literals
}

func itoa(n int) string { return strconv.Itoa(n) }

// advance reads the next token.
func (p *parser) advance() {
	p.lastLine = p.lx.line
	if p.hasAhead {
		p.tok, p.hasAhead = p.ahead, false
		return
	}
	p.tok = p.lx.next()
	p.countConstant()
	p.useMemory(tokenBytes)
}

// The bytes that gopher-lua uses at most for a token and for a function while it
// compiles.
const (
	tokenBytes    = 256
	functionBytes = 24 << 10
)

// useMemory counts bytes, and fails above Options.Memory.
func (p *parser) useMemory(bytes int) {
	if p.used += bytes; p.memory > 0 && p.used > p.memory {
		p.lx.fail("not enough memory", "")
	}
}

// maxSearches limits the comparisons that countConstant counts. They take about a
// second. C Lua's own limit is 262143 constants in a function.
const maxSearches = 1 << 28

// countConstant counts the comparisons that gopher-lua's compiler will make for the
// current token. For each constant the compiler searches all constants of the function,
// so a script of a megabyte could take minutes to compile.
func (p *parser) countConstant() {
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

// lookahead returns the token after the current one.
func (p *parser) lookahead() token {
	if !p.hasAhead {
		p.ahead, p.hasAhead = p.lx.next(), true
	}
	return p.ahead
}

// failHere fails with an error near the current token.
func (p *parser) failHere(msg string) { p.lx.fail(msg, p.tok.near()) }

// accept skips the current token if it has this kind, and reports whether it does.
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

// expect skips a token of this kind, and fails for another one.
func (p *parser) expect(kind int) {
	p.check(kind)
	if kind != tEOF {
		p.advance()
	}
}

// expectClosing expects the token that closes a construct. The construct has begun with
// opener at line.
func (p *parser) expectClosing(closing, opener, line int) {
	if p.tok.kind == closing {
		p.advance()
		return
	}
	expected := "'" + kindText(closing) + "' expected"
	if line == p.lx.line {
		p.failHere(expected)
	}
	p.failHere(expected + " (to close '" + kindText(opener) + "' at line " + itoa(line) + ")")
}

func (p *parser) name() string {
	if p.tok.kind != tName {
		p.failHere("'<name>' expected")
	}
	text := p.tok.text
	p.advance()
	return text
}

// at sets the line of a node.
func at[N ast.PositionHolder](n N, line int) N {
	n.SetLine(line)
	n.SetLastLine(line)
	return n
}

// blockEnds reports whether the current token ends a block.
func (p *parser) blockEnds() bool {
	switch p.tok.kind {
	case tElse, tElseif, tEnd, tUntil, tEOF:
		return true
	}
	return false
}

// chunk reads statements up to the end of the block.
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

// block reads a chunk. The scope of its local variables ends with it.
func (p *parser) block() []ast.Stmt {
	outer := len(p.fn.locals)
	stmts := p.chunk()
	p.fn.locals = p.fn.locals[:outer]
	return stmts
}

// statement reads a statement. last is true for return and break, which end a block.
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

// repeatStatement reads "repeat … until". The condition is in the scope of the block's
// local variables.
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
	start := p.lx.pos
	if p.accept('=') {
		s.Exprs = p.exprList()
	}
	if len(s.Exprs) == 1 {
		fn, ok := s.Exprs[0].(*ast.FunctionExpr)
		if ok && len(names) == 1 && strings.Contains(p.lx.src[start:p.lx.pos], names[0]) {
			// Without a second value, gopher-lua would compile "local function", which
			// is in its own scope.
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

// functionStatement reads "function a.b:c() … end".
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

// expressionStatement reads a call or an assignment.
func (p *parser) expressionStatement(line int) ast.Stmt {
	e, bare := p.primary()
	if call, ok := e.(*ast.FuncCallExpr); ok && bare {
		return at(&ast.FuncCallStmt{Expr: call}, line)
	}
	return p.assignment(e, bare, line)
}
