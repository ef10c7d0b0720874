package fuzz

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The tests run small random programs on redis-server and in lockredis and compare what
// the programs print. The programs always compile and always end. They are full of
// constructs that compilers get wrong: captured variables in loops that end early,
// several values at the end of lists, assignments to many kinds of variables at once,
// long constructors, coroutines, and errors in expressions of several lines.

// prelude has P, which prints, B, which ends programs that run long, and E, which prints
// the line at which a function fails.
const prelude = `
local out = {}
local function P(...)
  local r = {}
  for i = 1, select('#', ...) do r[i] = tostring((select(i, ...))) end
  if #out < 300 then out[#out + 1] = table.concat(r, ' ') end
end
local left = 1500
local function B() left = left - 1 if left < 0 then error('enough', 0) end end
local function E(f) local ok, e = pcall(f) P(ok or string.match(e, '^[^:]*:%d+:') or e) end
local v1, v2, v3 = 3, 7, 12
local t1, t2 = {1, 2, x = 5}, {y = 8}
local function f1(a, b) B() return (a or 1) + (b or 2), v1 end
`

// program is a program under construction. Its variables are numbers, tables, and
// functions that take and return numbers.
type program struct {
	*rand.Rand
	text   strings.Builder
	scopes [][]string
	named  int
	depth  int
	varied bool // the function has "..."
}

func makeProgram(seed uint64) string {
	p := &program{Rand: rand.New(rand.NewPCG(seed, 1)),
		scopes: [][]string{{"v1", "v2", "v3", "t1", "t2", "f1"}}, named: 3}
	p.write(prelude + "local ok, e = pcall(function()")
	p.block(4 + p.IntN(8))
	p.write("P(v1, v2, v3, #t1, #t2, t1.x, t2.y)\nend)\nP(ok, e)\nreturn out")
	return p.text.String()
}

func (p *program) write(line string) { p.text.WriteString(line + "\n") }

func (p *program) oneOf(options ...func() string) string { return options[p.IntN(len(options))]() }

func (p *program) word(options ...string) string { return options[p.IntN(len(options))] }

func (p *program) chance(percent int) bool { return p.IntN(100) < percent }

// known returns a visible variable of a kind: v, t or f.
func (p *program) known(kind string) string {
	var names []string
	for _, name := range slices.Concat(p.scopes...) {
		if strings.HasPrefix(name, kind) {
			names = append(names, name)
		}
	}
	return p.word(names...)
}

func (p *program) declare(name string) {
	p.scopes[len(p.scopes)-1] = append(p.scopes[len(p.scopes)-1], name)
}

func (p *program) fresh(kind string) string {
	p.named++
	return kind + strconv.Itoa(p.named)
}

// fold is white space that may end the line.
func (p *program) fold() string { return p.word(" ", " ", " ", " ", "\n") }

// number returns an expression whose value is a number.
func (p *program) number(depth int) string {
	if depth > 2 || p.chance(25) {
		return p.word(strconv.Itoa(p.IntN(20)), p.known("v"), p.known("v"))
	}
	n := func() string { return p.number(depth + 1) }
	return p.oneOf(
		func() string { return "(" + n() + p.fold() + p.word("+", "-") + " " + n() + ")" },
		func() string { return "(" + n() + " * " + n() + ")" + p.fold() + "% 97" },
		func() string { return "(" + p.condition(depth+1) + " and " + n() + " or " + n() + ")" },
		func() string { return "(" + p.known("t") + "." + p.word("x", "y") + " or " + n() + ")" },
		func() string { return "(" + p.known("t") + "[" + n() + "] or " + n() + ")" },
		func() string { return "#" + p.constructor(depth+1) },
		func() string { return "#(" + n() + " .. " + n() + " .. 'z')" },
		func() string { return "(" + p.call(depth+1) + ")" },
		func() string { return "(select(2, " + n() + "," + p.fold() + n() + "))" },
		func() string { return "math.max(" + n() + "," + p.fold() + n() + ")" },
		func() string { return "(function(q) return q + " + p.within(n) + " end)(" + n() + ")" },
		func() string { return "- " + n() },
	)
}

// within returns text for an inner function, which has no "...".
func (p *program) within(text func() string) string {
	defer func(varied bool) { p.varied = varied }(p.varied)
	p.varied = false
	return text()
}

func (p *program) condition(depth int) string {
	left, right := p.number(depth+1), p.number(depth+1)
	test := left + p.fold() + p.word("<", "<=", "==", "~=", ">") + " " + right
	return p.word(test, test, "not ("+test+")", "("+test+" or "+p.known("v")+" == 3)", "nil",
		p.known("t")+".x")
}

func (p *program) call(depth int) string {
	return p.known("f") + "(" + p.list(p.IntN(3), depth) + ")"
}

// list returns n numbers. The last may be a call with several values.
func (p *program) list(n, depth int) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = p.number(depth + 1)
	}
	if n > 0 && p.chance(30) {
		parts[n-1] = p.call(depth + 1)
		if p.varied && p.chance(50) {
			parts[n-1] = "..."
		}
	}
	return strings.Join(parts, ","+p.fold())
}

func (p *program) constructor(depth int) string {
	n := p.IntN(4)
	var fields []string
	if p.chance(10) {
		fields = append(fields, strings.TrimSuffix(strings.Repeat(strconv.Itoa(p.IntN(9))+", ",
			48+p.IntN(3)), ", "))
	}
	for range n {
		fields = append(fields, p.oneOf(
			func() string { return p.number(depth + 1) },
			func() string { return p.word("x", "y") + " = " + p.number(depth+1) },
			func() string { return "['" + p.word("x", "y") + "'] = " + p.call(depth+1) },
		))
	}
	if p.chance(40) {
		fields = append(fields, p.call(depth+1))
	}
	return "{" + strings.Join(fields, ","+p.fold()) + "}"
}

// place returns a variable or field to which a number can be assigned.
func (p *program) place() string {
	return p.word(p.known("v"), p.known("v"), p.known("t")+"."+p.word("x", "y"))
}

func (p *program) block(n int) {
	p.scopes = append(p.scopes, nil)
	p.depth++
	for range n {
		p.statement()
	}
	p.depth--
	p.scopes = p.scopes[:len(p.scopes)-1]
}

func (p *program) statement() {
	simple := []func(){p.local, p.local, p.assign, p.assign, p.grow, p.print, p.print, p.failing}
	nested := []func(){p.branch, p.count, p.iterate, p.whileLoop, p.repeatLoop, p.function,
		p.function, p.scope, p.closures, p.coroutine}
	if p.depth < 4 && p.chance(60) {
		nested[p.IntN(len(nested))]()
		return
	}
	simple[p.IntN(len(simple))]()
}

func (p *program) local() {
	if p.chance(30) {
		name, value := p.fresh("t"), p.constructor(0)
		p.write("local " + name + " = " + value)
		p.declare(name)
		return
	}
	names := make([]string, 1+p.IntN(3))
	for i := range names {
		names[i] = p.fresh("v")
	}
	p.write("local " + strings.Join(names, ", ") + " = " + p.list(len(names)-1, 0) +
		strings.Repeat(", ", min(1, len(names)-1)) + p.number(0))
	for _, name := range names {
		p.declare(name)
	}
}

func (p *program) assign() {
	places, values := make([]string, 1+p.IntN(3)), make([]string, 0, 3)
	for i := range places {
		places[i] = p.place()
		values = append(values, p.number(0))
	}
	p.write(strings.Join(places, ", ") + " =" + p.fold() + strings.Join(values, ", "))
}

func (p *program) grow() {
	t := p.known("t")
	p.write(fmt.Sprintf("if #%s < 60 then %s[#%s + 1] = %s end", t, t, t, p.number(0)))
}

func (p *program) print() { p.write("P(" + p.list(1+p.IntN(3), 0) + ")") }

// failing writes a statement of several lines with an error in it.
func (p *program) failing() {
	bad := p.word("nowhere", "t1.no"+p.fold()+".x", "(t1.no"+p.fold()+")()", "{} + 1", "1 .. {}",
		"-{}", "{} <"+p.fold()+"1", "error('x')", "t1.no:no()")
	if strings.HasPrefix(bad, "{} ") {
		bad = "(" + bad + ")"
	}
	p.write("E(function()")
	p.write(p.within(func() string { return p.failure(bad) }))
	p.write("end)")
}

func (p *program) failure(bad string) string {
	return p.oneOf(
		func() string { return "local z =" + p.fold() + bad + p.fold() },
		func() string {
			return "v1," + p.fold() + "t1.x =" + p.fold() + p.number(1) + "," + p.fold() + bad
		},
		func() string {
			return "return {" + p.fold() + bad + p.fold() + "," + p.fold() + p.number(1) + "}"
		},
		func() string {
			return "return {" + p.fold() + "[nil] =" + p.fold() + p.number(1) + "," + p.fold() + "1}"
		},
		func() string { return "t1.no.x =" + p.fold() + p.number(1) },
		func() string { return "P(" + p.number(1) + "," + p.fold() + bad + p.fold() + ")" },
		func() string { return "for i =" + p.fold() + "{}," + p.fold() + "2" + p.fold() + "do end" },
		func() string { return "for i in" + p.fold() + "nil" + p.fold() + "do end" },
		func() string { return "gone =" + p.fold() + p.number(1) },
		func() string { return "if" + p.fold() + bad + p.fold() + "then end" },
		func() string { return "return (" + bad + p.fold() + ")" },
	)
}

func (p *program) branch() {
	p.write("if " + p.condition(0) + " then")
	p.block(1 + p.IntN(2))
	if p.chance(30) {
		p.write("elseif " + p.condition(0) + " then")
		p.block(1)
	}
	if p.chance(50) {
		p.write("else")
		p.block(1)
	}
	p.write("end")
}

// body writes the block of a loop. The loop may end early from an inner block with a
// captured variable.
func (p *program) body() {
	p.write("B()")
	p.scopes = append(p.scopes, nil)
	for range 1 + p.IntN(2) {
		p.statement()
	}
	if p.chance(50) {
		p.write("if " + p.condition(0) + " then")
		if p.chance(60) {
			p.write("local w = " + p.number(0) + " " + p.known("f") +
				" = function(a) B() w = w + (a or 1) return w, 2 end")
		}
		p.write("break end")
	}
	p.scopes = p.scopes[:len(p.scopes)-1]
}

// nest writes a loop whose body sees one more variable.
func (p *program) nest(head, name, end string) {
	p.depth++
	p.write(head)
	p.scopes = append(p.scopes, []string{name})
	p.body()
	p.scopes = p.scopes[:len(p.scopes)-1]
	p.write(end)
	p.depth--
}

func (p *program) count() {
	name := p.fresh("v")
	p.nest("for "+name+" = "+p.word("1, 3", "3, 1, -1", "0, 1, 0.25", "2, 1",
		"1, "+p.number(1)+" % 4")+" do", name, "end")
}

func (p *program) iterate() {
	name := p.fresh("v")
	p.nest("for i, "+name+" in ipairs("+p.word(p.known("t"), p.constructor(1))+") do", name, "end")
}

func (p *program) whileLoop() {
	name := p.fresh("v")
	p.nest("do local "+name+" = 0 while "+name+" < 3 and "+p.condition(1)+
		" do "+name+" = "+name+" + 1", name, "end end")
}

func (p *program) repeatLoop() {
	name := p.fresh("v")
	p.nest("do local "+name+" = 0 repeat "+name+" = "+name+
		" + 1 local u = "+name+" P(u) if u > 5 then break end", name,
		"until "+p.condition(1)+" or (function() return u end)() > 2 end")
}

func (p *program) function() {
	name, params := p.fresh("f"), make([]string, 1+p.IntN(3))
	for i := range params {
		params[i] = p.fresh("v")
	}
	head := strings.Join(params, ", ")
	varied := p.varied
	p.varied = p.chance(40)
	if p.varied {
		head += ", ..."
	}
	p.write(p.word("local function "+name+"("+head+")", "local "+name+" = function("+head+")") +
		" B()")
	for _, param := range params {
		p.write(param + " = " + param + " or " + strconv.Itoa(p.IntN(9)))
	}
	p.scopes = append(p.scopes, params)
	p.block(1 + p.IntN(3))
	rest := ""
	if p.varied {
		rest = ", (... or 1)"
	}
	p.write("return " + p.word(p.number(0), p.number(0)+", "+p.number(0), p.number(0)+rest,
		"("+p.call(1)+")", p.call(1)) + " end")
	p.scopes = p.scopes[:len(p.scopes)-1]
	p.varied = varied
	p.declare(name)
	p.write("P(pcall(" + name + ", " + p.number(1) + "))")
}

func (p *program) scope() {
	p.write("do")
	p.block(1 + p.IntN(3))
	p.write("end")
}

// closures writes closures that share variables of a loop that may end early.
func (p *program) closures() {
	p.write("do local F = {} for i = 1, 3 do do local j = i * " + p.number(1) +
		" F[i] = function(a) j = j + (a or 1) return i, j, " + p.known("v") + " end")
	p.write(p.word("", "if i == 2 then break end",
		"if i == 2 then local k = j F[3] = function() k = k + 1 return k end break end") + " end end")
	p.write("local a, b, c, d = 1, 2, 3, 4 for _, f in ipairs(F) do P(f(), f(2)) end " +
		"P(a, b, c, d) end")
}

func (p *program) coroutine() {
	yield := p.word("local b, c = coroutine.yield(a, 2) P(b, c)", "P((coroutine.yield(a)))",
		"P(coroutine.yield())", "local q = {coroutine.yield(1)} P(#q)",
		"if coroutine.yield() then P('yes') end")
	p.write("do local co = coroutine.create(function(a) B() P(a) " + yield)
	p.within(func() string { p.block(1); return "" })
	p.write(p.word("return a", "return coroutine.yield(a)", "return 1, coroutine.yield(a)",
		"return (coroutine.yield(a))") + " end)")
	p.write("for i = 1, 4 do P(coroutine.resume(co" + p.word("", ", i", ", i, 2", ", "+p.list(2, 1)) +
		")) P(coroutine.status(co)) end end")
}

// unnamed matches variables in messages, which lockredis does not name, and the sign of
// zero, which may differ.
var (
	unnamed = regexp.MustCompile(`(?:local|upvalue|field|global|method) '[^']*' \((a \w+ value)\)`)
	zero    = regexp.MustCompile(`-0([ "])`)
)

func withoutNames(reply string) string {
	return zero.ReplaceAllString(unnamed.ReplaceAllString(reply, "$1"), "0$1")
}

func TestProgramsComputeTheSameAsInRedis(t *testing.T) {
	o := newOracle(t)
	var w *world
	const programs = 600
	for seed := range uint64(programs) {
		source := makeProgram(seed)
		if w == nil || w.over {
			w = newWorld(t)
		}
		o.same(t, w, withoutNames, "EVAL", source, "0")
	}
}
