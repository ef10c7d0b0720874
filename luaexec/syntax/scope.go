package syntax

// C Lua's limits.
const (
	maxLevels   = 200 // LUAI_MAXCCALLS: nested blocks and expressions
	maxLocals   = 200 // LUAI_MAXVARS, per function
	maxUpvalues = 60  // LUAI_MAXUPVALUES, per function
)

// Limits of this package and of gopher-lua.
const (
	// maxTemporaries is the greatest number of registers of an expression. gopher-lua
	// numbers registers with 8 bits and does not check for overflow.
	maxTemporaries = 230
	// maxLongChains is the greatest number of links in long chains: a+b+c…, elseif and
	// the like, which are deep trees for the compiler.
	//
	// Differs from Redis: C Lua has no such limit.
	maxLongChains = 10000
	// longChain is the number of links above which a chain is long.
	longChain = 200
)

// function is the state of a function that is being read.
type function struct {
	outer    *function
	line     int // line of its definition, 0 for the main function
	vararg   bool
	locals   []variable // visible local variables, innermost last
	upvalues map[string]bool
	loops    []loop // open loops, innermost last
	last     string // last parameter
	occupied int    // values that occupy registers

	constants map[token]int // the index of each name, string and number
}

// variable is a local variable.
type variable struct {
	name     string
	captured bool // an inner function uses it
}

// find returns the visible local variable of f with this name, or nil. The result is
// valid until the next variable is declared.
func (f *function) find(name string) *variable {
	for i := len(f.locals) - 1; i >= 0; i-- {
		if f.locals[i].name == name {
			return &f.locals[i]
		}
	}
	return nil
}

// declares reports whether name is a visible local variable of f.
func (f *function) declares(name string) bool { return f.find(name) != nil }

// isLocal reports whether name is a local variable of this function or an outer one. It
// adds the variable to the upvalues of the functions in between.
func (p *parser) isLocal(name string) bool {
	f := p.fn
	var v *variable
	for ; f != nil; f = f.outer {
		if v = f.find(name); v != nil {
			break
		}
	}
	if f == nil {
		return false
	}
	v.captured = v.captured || f != p.fn
	for g := p.fn; g != f; g = g.outer {
		p.addUpvalue(g, name)
	}
	return true
}

func (p *parser) addUpvalue(f *function, name string) {
	if f.upvalues[name] {
		return
	}
	if len(f.upvalues) >= maxUpvalues {
		p.limit(f, maxUpvalues, "upvalues")
	}
	if f.upvalues == nil {
		f.upvalues = make(map[string]bool)
	}
	f.upvalues[name] = true
}

// declare makes names visible from here to the end of the block.
func (p *parser) declare(names ...string) {
	for _, name := range names {
		p.fn.locals = append(p.fn.locals, variable{name: name})
	}
	p.checkLocals(0)
}

// checkLocals fails if the function has too many local variables. pending is the number
// of variables that were read and are not declared yet.
func (p *parser) checkLocals(pending int) {
	if len(p.fn.locals)+pending > maxLocals {
		p.limit(p.fn, maxLocals, "local variables")
	}
}

// limit fails because f has more than n of what.
func (p *parser) limit(f *function, n int, what string) {
	where := "main function"
	if f.line != 0 {
		where = "function at line " + itoa(f.line)
	}
	p.lx.fail(where+" has more than "+itoa(n)+" "+what, "")
}

// enter and leave count nested blocks and expressions.
func (p *parser) enter() {
	p.levels++
	if p.levels > maxLevels {
		p.lx.fail("chunk has too many syntax levels", "")
	}
}

func (p *parser) leave() { p.levels-- }

// chained counts the links of a chain, which is nested in the compiler's tree. links is
// the number of links of the chain so far.
func (p *parser) chained(links int) {
	if links <= longChain {
		return
	}
	p.long++
	if p.long > maxLongChains {
		p.lx.fail("chunk has too many syntax levels", "")
	}
}

// occupy counts n values that occupy registers until release.
func (p *parser) occupy(n int) {
	p.fn.occupied += n
	if len(p.fn.locals)+p.fn.occupied > maxTemporaries {
		p.failHere("function or expression too complex")
	}
}

func (p *parser) release(n int) { p.fn.occupied -= n }
