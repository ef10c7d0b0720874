package differential

import (
	"slices"
	"strings"

	"github.com/lockredis/lockredis/compat_test/wire"
	"pgregory.net/rapid"
)

// via is the way in which a generated command reaches the server.
type via int

const (
	viaPlain via = iota
	viaCall
	viaPcall
	viaResp3
	viaShape
)

func (v via) script() string {
	return [...]string{"", scriptCall, scriptPcall, scriptResp3, scriptShape}[v]
}

// invocation is one generated command.
type invocation struct {
	// name and options are the grammar's, for the report.
	name, options string
	// args is the command itself, with its name, without the EVAL around it.
	args []string
	via  via
	// luaText means that an error may hold Lua's own message.
	luaText bool
}

// stepKind says what a step of a sequence does with its invocations.
type stepKind int

const (
	stepCommand stepKind = iota // one invocation
	stepMulti                   // MULTI, the invocations, EXEC
	stepDiscard                 // MULTI, the invocations, DISCARD
	stepLapse                   // the key of the invocation expires
	stepScan                    // the invocation is a scan, run to its end
	stepOther                   // the invocation comes from a second connection
	stepFields                  // the fields that the invocation names expire
)

type step struct {
	kind  stepKind
	items []invocation
	// watched means that the connection watches the key of stepFields.
	watched bool
}

// sequence is the commands of one check: from an empty server to the comparison of its
// state.
type sequence struct {
	mode
	steps []step
}

// GoString renders the sequence as lines for redis-cli; rapid prints it.
func (s sequence) GoString() string {
	var b strings.Builder
	b.WriteString("\n")
	for _, c := range s.prefix() {
		b.WriteString("  " + cliLine(c) + "\n")
	}
	place := 0
	for _, st := range s.steps {
		for _, e := range st.emit(&place, s.exceptionOf) {
			if e.role != roleProbe {
				b.WriteString("  " + cliLine(e.args) + e.remark() + "\n")
			}
		}
	}
	return b.String()
}

func cliLine(args []string) string {
	words := make([]string, len(args))
	for i, a := range args {
		words[i] = a
		if a == "" || strings.ContainsFunc(a, func(r rune) bool {
			return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"'\*[(`, r)
		}) {
			words[i] = wire.Quote([]byte(a))
		}
	}
	return strings.Join(words, " ")
}

// maker generates sequences from a choice of the grammar.
type maker struct {
	groups  []group
	borders []border
	// chosen means that only some groups are wanted. Scripts are then left out.
	chosen bool
	// plain means that no sequence tracks keys or counts accesses.
	plain bool
	// valkey means that the oracle is Valkey.
	valkey bool
}

// newMaker returns a maker for the groups and commands named in only, separated by
// commas. "" means all.
func newMaker(only string) *maker { return newMakerOf(grammar(), borders(), only) }

// newMakerOf is newMaker for other groups and scripts.
func newMakerOf(all []group, scripts []border, only string) *maker {
	m := &maker{groups: all, borders: scripts, chosen: only != ""}
	if only == "" {
		return m
	}
	wanted := map[string]bool{}
	for _, w := range strings.Split(only, ",") {
		wanted[strings.ToUpper(w)] = true
	}
	m.groups = nil
	for _, g := range all {
		var kept []command
		for _, c := range g.commands {
			if wanted[strings.ToUpper(g.name)] || wanted[c.name] {
				kept = append(kept, c)
			}
		}
		if len(kept) > 0 {
			g.commands = kept
			m.groups = append(m.groups, g)
		}
	}
	return m
}

func (m *maker) sequences() *rapid.Generator[sequence] {
	return rapid.Custom(func(t *rapid.T) sequence {
		g := &gen{t: t, theme: -1, mode: mode{valkey: m.valkey}}
		s := sequence{mode: drawMode(g)}
		if m.plain {
			s.mode = mode{resp: s.resp, small: s.small}
		}
		s.valkey = m.valkey
		s.slow = s.slow && !m.valkey // Valkey also has commands that have waited in vain
		if g.chance(60) {
			g.theme = g.n(len(m.groups)+1) - 1
		}
		s.steps = m.population(g)
		one := rapid.Custom(func(t *rapid.T) step {
			return m.step(&gen{t: t, blocks: true, theme: g.theme, mode: s.mode})
		})
		// The list has two levels. rapid keeps a list without a minimum at six elements on
		// average, and cannot shrink a list below its minimum.
		for _, part := range rapid.SliceOfN(rapid.SliceOfN(one, 0, 20), 8, 30).Draw(t, "steps") {
			s.steps = append(s.steps, part...)
		}
		return s
	})
}

// population fills some keys, so that a sequence need not begin with an empty server: most keys of
// the type that the theme's commands work on.
func (m *maker) population(g *gen) []step {
	var steps []step
	for kind := range typeLetters {
		percent := 50
		if g.theme >= 0 && m.groups[g.theme].name == typeNames[kind] {
			percent = 90
		}
		for i := range 4 {
			if g.chance(percent) {
				steps = append(steps, fillKey(g, kind, i))
				if typeLetters[kind] == "x" && !m.valkey {
					steps = append(steps, readByGroup(g, "x"+decimal(i))...)
				}
				if g.chance(30) {
					args := []string{"PEXPIRE", typeLetters[kind] + decimal(i), placeMillis}
					steps = append(steps, step{items: []invocation{{name: args[0], args: args}}})
				}
			}
		}
	}
	return steps
}

// fillKey puts several elements into a key of the type typeLetters[kind].
func fillKey(g *gen, kind, i int) step {
	name := []string{"SET", "HSET", "RPUSH", "SADD", "ZADD", "XADD"}[kind]
	scores := score
	if g.valkey { // it writes fractions in another form
		scores = word([]string{"0", "1", "2", "-1", "3", "10", "100"})
	}
	if i == 3 { // see zsetCommands
		scores = lit("0")
	}
	elements := []part{value, many(2, 12, member, value), many(2, 12, member), many(2, 12, member),
		many(2, 12, scores, member), seq(word([]string{"1-*", "3-*", "5-*"}), many(1, 3, member, value))}[kind]
	args := append([]string{name, typeLetters[kind] + decimal(i)}, elements(g)...)
	return step{items: []invocation{{name: name, args: args}}}
}

func (m *maker) step(g *gen) step {
	if inv, ok := m.special(g); ok {
		return step{kind: stepCommand, items: []invocation{inv}}
	}
	switch k := g.n(64); {
	case k < 46:
		return step{kind: stepCommand, items: []invocation{m.invocation(g)}}
	case k < 53:
		return m.multi(g)
	case k < 58 && !m.chosen && g.policy == "":
		return step{kind: stepCommand, items: []invocation{m.border(g)}}
	case k == 58 && g.n(2) == 1:
		return step{kind: stepLapse, items: []invocation{{name: "PEXPIRE",
			args: append([]string{"PEXPIRE"}, key("")(g)...)}}}
	case k == 59 && g.policy != lfu: // the calls of a scan count as accesses
		return step{kind: stepScan, items: []invocation{m.scan(g)}}
	case k == 60:
		return step{kind: stepOther, items: []invocation{m.invocation(g)}}
	case k > 60 && m.valkey && g.n(2) == 1:
		return expireFields(g)
	case k > 60:
		return fillKey(g, g.n(len(typeLetters)), g.n(4))
	default:
		return step{kind: stepCommand, items: []invocation{m.invocation(g)}}
	}
}

func (m *maker) multi(g *gen) step {
	g.blocks = false
	st := step{kind: stepMulti}
	if g.chance(6) {
		st.kind = stepDiscard
	}
	for range 1 + g.n(6) {
		inv := m.invocation(g)
		name := strings.ToUpper(inv.args[0])
		ends := name == "EXEC" || name == "DISCARD" || name == "RESET"
		switch {
		case m.valkey && (ends || slices.Contains(abortInValkey, name)):
			inv = invocation{name: "PING", args: []string{"PING"}}
		case ends:
			inv = invocation{name: "MULTI", args: []string{"MULTI"}}
		}
		st.items = append(st.items, inv)
	}
	return st
}

func (m *maker) scan(g *gen) invocation {
	name := g.pick([]string{"SCAN", "HSCAN", "SSCAN", "ZSCAN"})
	args := []string{name}
	if name != "SCAN" {
		args = append(args, key(map[string]string{"HSCAN": "h", "SSCAN": "t", "ZSCAN": "z"}[name])(g)...)
	}
	args = append(args, "0")
	args = append(args, opt(30, lit("MATCH"), glob)(g)...)
	args = append(args, opt(50, lit("COUNT"), word([]string{"1", "2", "5", "100"}))(g)...)
	return invocation{name: name, options: "MATCH COUNT", args: args}
}

func (m *maker) border(g *gen) invocation {
	b := m.borders[g.n(len(m.borders))]
	name := g.pick([]string{"EVAL", "EVAL", "EVAL", "EVAL_RO"})
	args := []string{name, b.source}
	if g.chance(90) {
		args = append(args, seq(counted(0, 2, key("s")), many(0, 2, value))(g)...)
	} else if g.chance(60) {
		args = append(args, word(wrongCounts)(g)...)
	}
	return invocation{name: name, args: args, luaText: b.luaText || usesArguments(b.source)}
}

// usesArguments reports whether the script's success depends on its arguments, so that
// its error may hold Lua's own message.
func usesArguments(source string) bool {
	return strings.Contains(source, "ARGV[") || strings.Contains(source, "KEYS[")
}

// invocation draws a command, mostly well-formed, and its way to the server.
func (m *maker) invocation(g *gen) invocation {
	c := m.command(g)
	inv := invocation{name: c.name, options: c.options, via: m.way(g)}
	if m.valkey && (slices.Contains(blockingCommands, c.name) || strings.HasSuffix(c.name, " NOSUCH")) {
		inv.via = viaPlain // in scripts Valkey answers as it does outside
	}
	if g.policy != "" {
		inv.via = viaPlain
		if !countsAccesses(c.name) || m.valkey && slices.Contains(otherAccesses, c.name) {
			return invocation{name: "PING", args: []string{"PING"}}
		}
	}
	blocks := g.blocks
	g.blocks = blocks && inv.via == viaPlain
	args := c.args(g)
	if exact := c.name == "REPLICAOF" || c.name == "SLAVEOF"; !exact && g.chance(9) {
		args = spoil(g, args) // with another word, redis-server might become a replica
	}
	inv.args = append(append([]string{}, c.words()...), args...)
	if g.single && len(inv.expiredAtOnce()) > 0 {
		inv.args = laterDeadline(inv.args)
	}
	if g.chance(4) {
		inv.args[0] = strings.ToLower(inv.args[0])
	}
	if m.valkey {
		inv.args = asValkeyReads(inv.args)
	}
	if g.blocks {
		inv.args = shortenWait(inv.args)
	}
	if _, masked := g.exceptionOf(inv.args); masked && inv.via == viaShape {
		inv.via = viaCall
	}
	g.blocks = blocks
	return inv
}

func (m *maker) way(g *gen) via {
	switch k := g.n(32); {
	case k < 25:
		return viaPlain
	case k < 27:
		return viaCall
	case k < 28:
		return viaPcall
	case k < 30:
		return viaResp3
	default:
		return viaShape
	}
}

func (m *maker) command(g *gen) command {
	if g.theme >= 0 && g.chance(60) {
		return m.groups[g.theme].draw(g)
	}
	total := 0
	for _, gr := range m.groups {
		total += gr.weight
	}
	i := g.n(total)
	for _, gr := range m.groups {
		if i < gr.weight {
			return gr.draw(g)
		}
		i -= gr.weight
	}
	panic("weights do not add up")
}

func (gr group) draw(g *gen) command {
	total := 0
	for _, c := range gr.commands {
		total += c.weight
	}
	i := g.n(total)
	for _, c := range gr.commands {
		if i < c.weight {
			return c
		}
		i -= c.weight
	}
	panic("weights do not add up")
}

// spoil makes a command wrong in one of the ways that clients do.
func spoil(g *gen, args []string) []string {
	out := append([]string{}, args...)
	switch k := g.n(6); {
	case k == 0:
		return nil
	case k == 1 && len(out) > 0:
		return out[:len(out)-1]
	case k == 2 && len(out) > 0:
		return append(out, out[len(out)-1])
	case k == 3 && len(out) > 0:
		out[g.n(len(out))] = g.pick([]string{"nonsense", "", "-1", "0", "1.5", "l0", "h0", "NX", "LIMIT",
			"COUNT"})
		return out
	case k == 4 && len(out) > 0:
		// A key of another type in place of the first key.
		out[0] = g.pick(typeLetters) + "0"
		return out
	default:
		return append(out, "extra")
	}
}

// shortenWait keeps a spoiled blocking command from waiting forever.
func shortenWait(args []string) []string {
	at := -1
	switch strings.ToUpper(args[0]) {
	case "XREAD", "XREADGROUP":
		return shortenBlock(args)
	case "WAITAOF":
		return shortenWaitAOF(args)
	case "BLPOP", "BRPOP", "BZPOPMIN", "BZPOPMAX", "BLMOVE", "BRPOPLPUSH":
		at = len(args) - 1
	case "BLMPOP", "BZMPOP":
		at = 1
	}
	if at < 1 || at >= len(args) {
		return args
	}
	if slices.Contains(shortTimeouts, args[at]) || slices.Contains(wrongTimeouts, args[at]) {
		return args
	}
	args[at] = "0.001"
	return args
}
