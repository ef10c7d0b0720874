package differential

import (
	"math/bits"
	"strings"

	"pgregory.net/rapid"
)

// gen draws the parts of one command. Its choices come from rapid, so that rapid can
// shrink them. Index 0 of every choice is the simplest.
type gen struct {
	t *rapid.T
	// blocks means that a blocking command would really wait here, so that its timeout must
	// be short.
	blocks bool
	// theme is the group that occurs more often than the others, -1 for none.
	theme int
	mode
}

// part generates the words of one part of a command.
type part func(g *gen) []string

var coin = rapid.Bool()

// n draws evenly from 0 to count-1. rapid's own integer generators prefer small numbers,
// so that commands at the end of the grammar would hardly occur.
func (g *gen) n(count int) int {
	if count < 2 {
		return 0
	}
	width := bits.Len(uint(count - 1))
	if count&(count-1) != 0 {
		width += 3
	}
	v := 0
	for range width {
		v <<= 1
		if coin.Draw(g.t, "") {
			v |= 1
		}
	}
	return v % count
}

// chance is true in about percent of a hundred cases, and false in the simplest case.
func (g *gen) chance(percent int) bool { return g.n(128) >= 128-percent*128/100 }

func (g *gen) pick(pool []string) string { return pool[g.n(len(pool))] }

// lit generates the fixed words, sometimes in lower case.
func lit(words ...string) part {
	return func(g *gen) []string {
		if !g.chance(8) {
			return words
		}
		lower := make([]string, len(words))
		for i, w := range words {
			lower[i] = strings.ToLower(w)
		}
		return lower
	}
}

func seq(parts ...part) part {
	return func(g *gen) []string {
		var words []string
		for _, p := range parts {
			words = append(words, p(g)...)
		}
		return words
	}
}

// opt generates its parts in percent of a hundred cases, else nothing.
func opt(percent int, parts ...part) part {
	all := seq(parts...)
	return func(g *gen) []string {
		if !g.chance(percent) {
			return nil
		}
		return all(g)
	}
}

func oneOf(parts ...part) part {
	return func(g *gen) []string { return parts[g.n(len(parts))](g) }
}

// many generates its parts lo to hi times.
func many(lo, hi int, parts ...part) part {
	all := seq(parts...)
	return func(g *gen) []string {
		var words []string
		for range lo + g.n(hi-lo+1) {
			words = append(words, all(g)...)
		}
		return words
	}
}

// counted generates the number of repetitions, sometimes a wrong one, then its parts that
// many times.
func counted(lo, hi int, parts ...part) part {
	all := seq(parts...)
	return func(g *gen) []string {
		count := lo + g.n(hi-lo+1)
		words := []string{decimal(count)}
		for range count {
			words = append(words, all(g)...)
		}
		if g.chance(5) {
			words[0] = g.pick(wrongCounts)
		}
		return words
	}
}

// anyOrder generates its parts in a random order.
func anyOrder(parts ...part) part {
	return func(g *gen) []string {
		order := append([]part(nil), parts...)
		var words []string
		for len(order) > 0 {
			i := g.n(len(order))
			words = append(words, order[i](g)...)
			order = append(order[:i:i], order[i+1:]...)
		}
		return words
	}
}

func word(pool []string) part {
	return func(g *gen) []string { return []string{g.pick(pool)} }
}

// mostly draws from the first pool in 7 of 8 cases, from the second in 7 of 8 of the
// rest, and so on.
func mostly(common, edge, wrong []string) part {
	return func(g *gen) []string {
		switch k := g.n(32); {
		case k < 27:
			return []string{g.pick(common)}
		case k < 30:
			return []string{g.pick(edge)}
		default:
			return []string{g.pick(wrong)}
		}
	}
}

// key returns a key that usually holds the type with the letter kind. Kind "" means any
// type.
func key(kind string) part {
	return func(g *gen) []string {
		switch k := g.n(32); {
		case k < 24 && kind != "":
			return []string{kind + decimal(g.n(4))}
		case k < 31:
			return []string{g.pick(typeLetters) + decimal(g.n(4))}
		default:
			return []string{g.pick(oddKeys)}
		}
	}
}

// The parts of commands.
var (
	member   = mostly(smallMembers, values, longValues)
	value    = mostly(values, longValues, numberLike)
	number   = mostly(smallInts, edgeInts, wrongInts)
	index    = mostly(smallIndexes, edgeInts, wrongInts)
	count    = mostly(smallCounts, edgeInts, wrongInts)
	popCount = mostly([]string{"1", "2", "1", "3"}, []string{"0", "-1", "100"}, wrongInts)
	float    = mostly(smallFloats, edgeFloats, wrongFloats)
	score    = mostly(smallFloats, edgeFloats, wrongFloats)
	bound    = mostly(scoreBounds, edgeFloats, wrongBounds)
	lex      = mostly(lexBounds, lexBounds, wrongLex)
	glob     = word(globs)
	dbIdx    = mostly([]string{"0", "1", "2"}, []string{"0", "1"},
		[]string{"-1", "16", "99", "abc", "1.5", ""})
	ttlS  = mostly([]string{placeSeconds}, []string{placeSeconds, "0", "-1", "-100"}, wrongTTLs)
	ttlMS = mostly([]string{placeMillis}, []string{placeMillis, "0", "-1", "-100"}, wrongTTLs)
	atS   = mostly([]string{"4102444800", "4102444900", "4102450000"}, []string{"1", "0", "-1"},
		wrongTTLs)
	atMS = mostly([]string{"4102444800000", "4102444900500", "4102450000001"},
		[]string{"1", "0", "-1"}, wrongTTLs)
)

// timeout returns the timeout of a blocking command. It is short where the command would
// really wait.
func timeout(g *gen) []string {
	if g.blocks {
		return mostly(shortTimeouts, shortTimeouts, wrongTimeouts)(g)
	}
	return mostly([]string{"0", "1", "0.01", "100"}, []string{"0.0", "1e3", "0x1"}, wrongTimeouts)(g)
}
