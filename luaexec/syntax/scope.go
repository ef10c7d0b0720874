package syntax

// C Lua's limits.
const (
	maxLevels   = 200 // LUAI_MAXCCALLS: blocks and expressions inside each other
	maxLocals   = 200 // LUAI_MAXVARS, per function
	maxUpvalues = 60  // LUAI_MAXUPVALUES, per function
)

// Limits of this package and of gopher-lua.
const (
	// maxTemporaries bounds the registers of an expression. gopher-lua numbers
	// them with 8 bits and does not notice when they run over.
	maxTemporaries = 230
	// maxLongChains bounds a+b+c… and elseif chains, which are nested trees for
	// the compiler. C Lua has no such limit. Differs from Redis.
	maxLongChains = 10000
	// longChain is where a chain starts to count as long.
	longChain = 200
)

// function is what the parser knows about a function it is reading.
type function struct {
	outer    *function
	line     int // where it is defined, 0 for the main function
	vararg   bool
	locals   []variable // visible, innermost last
	upvalues map[string]bool
	loops    []loop // open ones, innermost last
	last     string // its last parameter
	held     int    // values that wait in registers

	constants map[token]int // the places of its names, strings and numbers
}

// variable is a local variable.
type variable struct {
	name     string
	captured bool // an inner function uses it
}

// find returns the visible local variable of f with this name, or nil. It is
// valid until the next one is declared.
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

// isLocal resolves name; on the way it notes the upvalues that carry it.
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

// declare makes name visible from here to the end of the block.
func (p *parser) declare(names ...string) {
	for _, name := range names {
		p.fn.locals = append(p.fn.locals, variable{name: name})
	}
	p.checkLocals(0)
}

// checkLocals refuses more local variables than a function can have; coming
// are those that were read and not declared yet.
func (p *parser) checkLocals(coming int) {
	if len(p.fn.locals)+coming > maxLocals {
		p.limit(p.fn, maxLocals, "local variables")
	}
}

func (p *parser) limit(f *function, n int, what string) {
	where := "main function"
	if f.line != 0 {
		where = "function at line " + itoa(f.line)
	}
	p.lx.fail(where+" has more than "+itoa(n)+" "+what, "")
}

// enter and leave count what is nested in each other.
func (p *parser) enter() {
	p.levels++
	if p.levels > maxLevels {
		p.lx.fail("chunk has too many syntax levels", "")
	}
}

func (p *parser) leave() { p.levels-- }

// chained counts the links of a chain that the compiler sees as nesting.
func (p *parser) chained(links int) {
	if links <= longChain {
		return
	}
	p.long++
	if p.long > maxLongChains {
		p.lx.fail("chunk has too many syntax levels", "")
	}
}

// hold counts n values that occupy registers until release.
func (p *parser) hold(n int) {
	p.fn.held += n
	if len(p.fn.locals)+p.fn.held > maxTemporaries {
		p.failHere("function or expression too complex")
	}
}

func (p *parser) release(n int) { p.fn.held -= n }
