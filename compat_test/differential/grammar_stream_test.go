package differential

import (
	"bytes"
	"slices"
	"strings"

	"github.com/lockredis/lockredis/compat_test/wire"
)

// The ids are given or partial, never *, because the servers' clocks differ. The idle times
// are so long or so short that the moment of a command does not matter.
var (
	streamIDs = []string{"1-1", "1-2", "2-0", "3", "3-1", "4-0", "5-5", "5-0", "7-0", "9-0", "9-9", "0-1",
		"1-0", "10-0", "9-1", "10-1"}
	edgeIDs = []string{"0-0", "0", "18446744073709551615-18446744073709551615", "18446744073709551615",
		"0-18446744073709551615", "18446744073709551614-1", "+5-3", "05-01", " 4-1", "5--1", "5--01"}
	wrongIDs = []string{"abc", "", "-", "+", "1-", "-1", "1-1-1", "18446744073709551616", "1.5", "(1", "$",
		">", "1-*", strings.Repeat("1", 200)}
	idBounds = []string{"-", "+", "1", "3", "2-1", "(1-1", "(3", "5-5", "(5-5", "7", "-", "+"}
	edgeBnds = []string{"(0-0", "(18446744073709551615-18446744073709551615", "(-", "(+", "(", "0",
		"18446744073709551615", "(0"}

	streamNames = []string{"g", "g", "g", "g", "g", "g", "k", "G"}
	consumers   = []string{"alice", "bob", "carol", "alice", ""}
	longTimes   = []string{"0", "0", "0", "50000000", "100000000", "-1"}
)

func streamCommands() []command {
	x := oneOf(key("x"), word([]string{"x0", "x1"})) // few streams, that commands find something in them
	id := mostly(streamIDs, edgeIDs, wrongIDs)
	newID := mostly([]string{"1-*", "2-*", "3-*", "5-*", "9-*", "9-*", "20-*", "30-*", "9-9", "31-5"},
		streamIDs, append([]string{"0-*", "-*", "*-1", "18446744073709551615-*"}, wrongIDs...))
	bnd := mostly(idBounds, edgeBnds, wrongIDs)
	group, consumer := word(streamNames), word(consumers)
	atMost := opt(45, lit("COUNT"), mostly([]string{"1", "2", "5", "1", "2", "3", "0"}, []string{"-1", "1000"}, wrongInts))
	idle := mostly(longTimes, []string{"9223372036854775807"}, wrongInts)
	exact := opt(60, oneOf(lit("~"), lit("="), lit("~")))
	length := mostly([]string{"0", "1", "2", "3", "5", "8", "12"}, []string{"100", "-1"}, wrongInts)
	limit := seq(lit("LIMIT"), mostly([]string{"0", "1", "3", "6", "10"}, []string{"-1"}, wrongInts))
	atLeast := oneOf(seq(lit("MAXLEN"), exact, length), seq(lit("MINID"), exact, id))
	about := seq(oneOf(seq(lit("MAXLEN", "~"), length), seq(lit("MINID", "~"), id)), limit)
	trim := oneOf(atLeast, atLeast, atLeast, about, seq(atLeast, opt(20, limit)))
	fields := oneOf(seq(lit("f"), value, lit("g"), value), seq(lit("f"), value, lit("g"), value),
		many(1, 3, member, value))
	added := seq(opt(15, lit("NOMKSTREAM")), opt(25, trim), newID, fields)
	block := func(g *gen) []string {
		if !g.chance(25) {
			return nil
		}
		if g.blocks {
			return append(lit("BLOCK")(g), g.pick(shortBlocks))
		}
		return append(lit("BLOCK")(g), g.pick([]string{"0", "1", "1000", "10", "1", "100", "-1", "abc"}))
	}
	// streams generates keys and as many ids.
	streams := func(ids part) part {
		return func(g *gen) []string {
			n := 1 + g.n(2)
			return append(lit("STREAMS")(g), append(many(n, n, x)(g), many(n, n, ids)(g)...)...)
		}
	}
	made := opt(70, lit("ENTRIESREAD"), mostly([]string{"0", "1", "3", "-1"}, []string{"-2"}, wrongInts))
	start := mostly([]string{"0", "$", "1-1", "3", "0"}, streamIDs, wrongIDs)
	claimed := opt(60, anyOrder(opt(40, lit("IDLE"), word(longTimes)), opt(40, lit("TIME"), lit("1000")),
		opt(40, lit("RETRYCOUNT"), index), opt(50, lit("FORCE")), opt(40, lit("JUSTID")),
		opt(35, lit("LASTID"), id)))
	return []command{
		{"XADD", 26, "NOMKSTREAM MAXLEN MINID LIMIT", seq(x, added)},
		{"XLEN", 1, "", x},
		{"XRANGE", 3, "COUNT", seq(x, bnd, bnd, atMost)},
		{"XREVRANGE", 3, "COUNT", seq(x, bnd, bnd, atMost)},
		{"XDEL", 6, "", seq(x, many(1, 3, id))},
		{"XTRIM", 6, "MAXLEN MINID LIMIT", seq(x, trim)},
		{"XSETID", 3, "ENTRIESADDED MAXDELETEDID", seq(x, mostly([]string{"40-1", "50", "60-6"}, streamIDs, wrongIDs),
			anyOrder(opt(40, lit("ENTRIESADDED"), mostly([]string{"100", "50", "5"}, smallInts, wrongInts)),
				opt(40, lit("MAXDELETEDID"), id)))},
		{"XREAD", 6, "COUNT BLOCK", seq(atMost, block, streams(oneOf(id, lit("$"))))},
		{"XREADGROUP", 20, "COUNT BLOCK NOACK", seq(lit("GROUP"), group, consumer, anyOrder(atMost, block,
			opt(20, lit("NOACK"))), streams(oneOf(lit(">"), lit(">"), lit("0"), id)))},
		{"XACK", 4, "", seq(x, group, many(1, 3, id))},
		{"XPENDING", 7, "IDLE", seq(x, group, opt(70, opt(45, lit("IDLE"), idle), bnd, bnd,
			mostly([]string{"10", "1", "2"}, smallCounts, wrongInts), opt(40, consumer)))},
		{"XCLAIM", 9, "IDLE TIME RETRYCOUNT FORCE JUSTID LASTID", seq(x, group, consumer, idle,
			many(1, 3, mostly(streamIDs, streamIDs, edgeIDs)), claimed)},
		{"XAUTOCLAIM", 7, "COUNT JUSTID", seq(x, group, consumer, idle, bnd, anyOrder(atMost, opt(40, lit("JUSTID"))))},
		{"XGROUP CREATE", 10, "MKSTREAM ENTRIESREAD", seq(x, group, start, anyOrder(opt(50, lit("MKSTREAM")), made))},
		{"XGROUP SETID", 4, "ENTRIESREAD", seq(x, group, start, made)},
		{"XGROUP DESTROY", 2, "", seq(x, group)},
		{"XGROUP CREATECONSUMER", 2, "", seq(x, group, consumer)},
		{"XGROUP DELCONSUMER", 2, "", seq(x, group, consumer)},
		{"XINFO STREAM", 4, "FULL COUNT", seq(x, opt(60, lit("FULL"), opt(60, lit("COUNT"), index)))},
		{"XINFO GROUPS", 2, "", x},
		{"XINFO CONSUMERS", 2, "", seq(x, group)},
	}
}

// readByGroup adds entries to a stream, and a consumer group that has read some of them. Without
// it few sequences would come to commands of groups that succeed.
func readByGroup(g *gen, key string) []step {
	lines := [][]string{
		{"XADD", key, "9-*", "f", "v"}, {"XADD", key, "10-*", "f", "v", "g", "w"},
		{"XGROUP CREATE", key, "g", "0"},
		{"XREADGROUP", "GROUP", "g", g.pick(consumers[:3]), "COUNT", "2", "STREAMS", key, ">"},
	}
	var steps []step
	for _, words := range lines {
		name, rest := words[0], words[1:]
		steps = append(steps, step{items: []invocation{{
			name: name, args: append(strings.Fields(name), rest...),
		}}})
	}
	return steps
}

// shortBlocks are times for BLOCK where the command really waits, in milliseconds.
var shortBlocks = []string{"1", "2", "1", "2", "1", "1", "-1", "abc"}

// shortenBlock keeps an XREAD from waiting for long.
func shortenBlock(args []string) []string {
	for i, a := range args[:len(args)-1] {
		if strings.EqualFold(a, "BLOCK") && !slices.Contains(shortBlocks, args[i+1]) {
			args[i+1] = "1"
		}
	}
	return args
}

// sameStreamTimes compares replies in which times in milliseconds may differ a little: the
// times of delivery and of a consumer's last command, and the idle times that come from them.
func sameStreamTimes(c comparison) bool {
	if c.via == viaResp3 && strings.EqualFold(c.args[0], "XINFO") {
		return slices.Equal(texts(c.oracle, nil), texts(c.target, nil)) // a Lua table has no order
	}
	return sameTimes(c.oracle, c.target, clockSlack+c.lateness, strings.EqualFold(c.args[0], "XPENDING"))
}

// texts returns the strings within v, sorted, and the number of integers.
func texts(v wire.Value, all []string) []string {
	switch {
	case v.IsAggregate():
		for _, e := range v.Elems {
			all = texts(e, all)
		}
	case v.Kind == wire.Integer:
		all = append(all, "integer")
	default:
		all = append(all, string(v.Raw))
	}
	slices.Sort(all)
	return all
}

func sameTimes(a, b wire.Value, slack int64, pending bool) bool {
	const sinceEpoch = 1 << 40
	if a.Kind != b.Kind || a.IsNil != b.IsNil || len(a.Elems) != len(b.Elems) {
		return false
	}
	if !a.IsAggregate() {
		x, isInt := a.Int()
		y, _ := b.Int()
		return bytes.Equal(a.Raw, b.Raw) ||
			isInt && min(x, y) > sinceEpoch && max(x-y, y-x) <= slack
	}
	for i := range a.Elems {
		x, y := a.Elems[i], b.Elems[i]
		isIdle := pending && i == 2 && len(a.Elems) == 4 || i > 0 && string(a.Elems[i-1].Str) == "idle"
		if m, ok := x.Int(); ok && isIdle {
			if n, also := y.Int(); !also || max(m-n, n-m) > slack {
				return false
			}
			continue
		}
		if !sameTimes(x, y, slack, pending) {
			return false
		}
	}
	return true
}
