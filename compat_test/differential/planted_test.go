//go:build plantedbugs

package differential

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lockredis/lockredis/compat_test/wire"
)

// boundCommands is the number of commands within which a planted bug must be found.
const boundCommands = 100_000

func TestEveryPlantedBugIsFound(t *testing.T) {
	s := readSettings(t)
	if os.Getenv("LOCKREDIS_DIFF_SEED") == "" {
		s.seed = 1 // the bound must not depend on luck
	}
	oracle, target := startOracle(t), startTarget(t)
	for _, b := range plantedBugs() {
		t.Run(b.name, func(t *testing.T) {
			found, d := search(t, oracle, target, startProxy(t, target, b), groupsOf(b), s.seed, boundCommands)
			if d == nil {
				t.Fatalf("not found in %d commands (LOCKREDIS_DIFF_SEED=%d)", found, s.seed)
			}
			t.Logf("found after %d commands, %s", found, d)
		})
	}
}

// Without a bug, the proxy must make no difference. Otherwise the test above would prove
// nothing.
func TestProxyWithoutABugMakesNoDifference(t *testing.T) {
	s := readSettings(t)
	oracle, target := startOracle(t), startTarget(t)
	if _, d := search(t, oracle, target, startProxy(t, target, bug{}), "", s.seed, 5_000); d != nil {
		t.Fatalf("LOCKREDIS_DIFF_SEED=%d: %s", s.seed, d)
	}
}

// groupsOf returns the groups of the grammar that sequences for the bug come from: that of the
// command that begins its name, and some others. "" means all.
func groupsOf(b bug) string {
	name, _, _ := strings.Cut(b.name, " ")
	for _, g := range grammar() {
		if slices.ContainsFunc(g.commands, func(c command) bool { return c.name == name }) {
			return g.name + ",generic,string,list"
		}
	}
	return ""
}

// search runs sequences of the groups named in only through the proxy until one differs that does
// not differ without the proxy. It returns the number of commands, or nil for the difference when
// the bound is reached.
func search(t *testing.T, oracle, target, proxy, only string, seed uint64, bound int,
) (commands int, found *difference) {
	t.Helper()
	through, direct := newPair(oracle, proxy), newPair(oracle, target)
	defer through.close()
	defer direct.close()
	m := newMaker(only)
	m.plain = true // the proxy's own commands count as accesses, and invalidate keys
	gen := m.sequences()
	for i := 0; through.report.commands < bound; i++ {
		seq := gen.Example(int(seed) + i)
		d, err := through.run(seq)
		if err != nil {
			t.Fatal(err)
		}
		if d == nil {
			continue
		}
		without, err := direct.run(seq)
		if err != nil {
			t.Fatal(err)
		}
		if without == nil {
			return through.report.commands, d
		}
	}
	return through.report.commands, nil
}

func plantedBugs() []bug {
	return append(commandBugs(), replyBugs()...)
}

// commandBugs run another command than the client sent.
func commandBugs() []bug {
	return []bug{
		{name: "HINCRBY drops the time to live", after: persistAfter("HINCRBY")},
		{name: "LPUSH drops the time to live", after: persistAfter("LPUSH")},
		{name: "ZADD drops the time to live", after: persistAfter("ZADD")},
		{name: "RENAME loses the time to live", after: func(args []string) [][]string {
			if is(args, "RENAME") && len(args) == 3 {
				return [][]string{{"PERSIST", args[2]}}
			}
			return nil
		}},
		{name: "SET ignores KEEPTTL", rewrite: without("SET", "KEEPTTL")},
		{name: "ZADD ignores GT", rewrite: without("ZADD", "GT")},
		{name: "COPY ignores REPLACE", rewrite: without("COPY", "REPLACE")},
		{name: "LREM searches from the head only", rewrite: change("LREM", 2, func(s string) string {
			if len(s) > 4 {
				return s
			}
			return strings.TrimPrefix(s, "-")
		})},
		{name: "LINSERT AFTER inserts before", rewrite: change("LINSERT", 2, func(s string) string {
			if strings.EqualFold(s, "AFTER") {
				return "BEFORE"
			}
			return s
		})},
		{name: "an exclusive low score is taken as inclusive",
			rewrite: change("ZRANGEBYSCORE", 2, func(s string) string {
				if rest, open := strings.CutPrefix(s, "("); open && rest != "" && rest[0] != '(' {
					return rest
				}
				return s
			})},
		{name: "EXPIRE LT refuses a key without a deadline", rewrite: func(args []string) []string {
			if is(args, "EXPIRE") && len(args) == 4 && strings.EqualFold(args[3], "LT") {
				return append(slices.Clone(args), "XX")
			}
			return args
		}},
		{name: "PEXPIRE is 100 ms late", rewrite: change("PEXPIRE", 2, func(s string) string {
			if n, err := strconv.ParseInt(s, 10, 64); err == nil && n > 1_000 && n < 1<<40 {
				return strconv.FormatInt(n+100, 10)
			}
			return s
		})},
		{name: "LPOS counts a negative rank from the head", rewrite: func(args []string) []string {
			out := slices.Clone(args)
			isRank := func(a string) bool { return strings.EqualFold(a, "RANK") }
			i := slices.IndexFunc(out, isRank)
			if is(args, "LPOS") && i > 0 && i+1 < len(out) && len(out[i+1]) < 5 {
				out[i+1] = strings.TrimPrefix(out[i+1], "-")
			}
			return out
		}},
		{name: "a hash stays compact for one field too many", rewrite: func(args []string) []string {
			out := slices.Clone(args)
			if i := slices.Index(out, "hash-max-listpack-entries"); i > 0 && i+1 < len(out) && out[i+1] == "8" {
				out[i+1] = "9"
			}
			return out
		}},
		{name: "GETSET keeps the time to live", rewrite: func(args []string) []string {
			if is(args, "GETSET") && len(args) == 3 {
				return []string{"SET", args[1], args[2], "KEEPTTL", "GET"}
			}
			return args
		}},
		{name: "MSETNX sets when one key exists", rewrite: func(args []string) []string {
			if is(args, "MSETNX") && len(args) == 5 {
				return append([]string{"MSETNX"}, args[3:]...)
			}
			return args
		}},
		{name: "APPEND sends no event", swallow: func(v wire.Value) bool {
			return len(v.Elems) > 0 && string(v.Elems[len(v.Elems)-1].Str) == "append"
		}},
	}
}

// replyBugs run the command and change its reply.
func replyBugs() []bug {
	return []bug{
		{name: "GETRANGE leaves the last byte out",
			answer: forCommand("GETRANGE", func(v wire.Value) []byte {
				if v.Kind != wire.BulkString || len(v.Str) < 2 {
					return v.Raw
				}
				return bulk(v.Str[:len(v.Str)-1])
			})},
		{name: "WRONGTYPE comes as ERR", answer: func(_ []string, v wire.Value) []byte {
			return bytes.Replace(v.Raw, []byte("-WRONGTYPE "), []byte("-ERR "), 1)
		}},
		{name: "a score of a thousand million is 1e+09",
			answer: func(args []string, v wire.Value) []byte {
				if args[0] != "" && args[0][0] != 'Z' {
					return v.Raw
				}
				return bytes.ReplaceAll(v.Raw, []byte("$10\r\n1000000000\r\n"), []byte("$5\r\n1e+09\r\n"))
			}},
		{name: "SINTERCARD LIMIT counts one too many", answer: func(args []string, v wire.Value) []byte {
			if n, ok := v.Int(); ok && n > 0 && is(args, "SINTERCARD") && slices.Contains(args, "LIMIT") {
				return []byte(fmt.Sprintf(":%d\r\n", n+1))
			}
			return v.Raw
		}},
		{name: "HGETALL in RESP3 is an array", answer: forCommand("HGETALL", func(v wire.Value) []byte {
			if v.Kind != wire.Map {
				return v.Raw
			}
			return append([]byte(fmt.Sprintf("*%d\r\n", len(v.Elems))), joined(v.Elems)...)
		})},
		{name: "the null of RESP3 is a null bulk", answer: forCommand("HGET", func(v wire.Value) []byte {
			return bytes.Replace(v.Raw, []byte("_\r\n"), []byte("$-1\r\n"), 1)
		})},
		{name: "the error of a script names no script", answer: func(_ []string, v wire.Value) []byte {
			if i := bytes.Index(v.Raw, []byte(" script: ")); i > 0 && v.IsError() {
				return append(v.Raw[:i:i], "\r\n"...)
			}
			return v.Raw
		}},
		{name: "an intset is listed backwards", answer: forCommand("SMEMBERS", func(v wire.Value) []byte {
			if len(v.Elems) < 2 || slices.ContainsFunc(v.Elems, func(e wire.Value) bool {
				_, err := strconv.Atoi(string(e.Str))
				return err != nil
			}) {
				return v.Raw
			}
			back := slices.Clone(v.Elems)
			slices.Reverse(back)
			return append(v.Raw[:bytes.IndexByte(v.Raw, '\n')+1:bytes.IndexByte(v.Raw, '\n')+1],
				joined(back)...)
		})},
		{name: "SRANDMEMBER picks a stranger",
			answer: forCommand("SRANDMEMBER", func(v wire.Value) []byte {
				if v.Kind != wire.BulkString || v.IsNil {
					return v.Raw
				}
				return bulk([]byte("stranger"))
			})},
		{name: "HSCAN leaves the last field out", answer: forCommand("HSCAN", func(v wire.Value) []byte {
			if len(v.Elems) != 2 || len(v.Elems[1].Elems) < 4 {
				return v.Raw
			}
			kept := v.Elems[1].Elems[:len(v.Elems[1].Elems)-2]
			head := []byte(fmt.Sprintf("*2\r\n%s*%d\r\n", v.Elems[0].Raw, len(kept)))
			return append(head, joined(kept)...)
		})},
		{name: "TTL is five seconds short", answer: forCommand("TTL", func(v wire.Value) []byte {
			if n, ok := v.Int(); ok && n > 10 {
				return []byte(fmt.Sprintf(":%d\r\n", n-5))
			}
			return v.Raw
		})},
	}
}

func is(args []string, name string) bool { return strings.EqualFold(args[0], name) }

func persistAfter(name string) func([]string) [][]string {
	return func(args []string) [][]string {
		if is(args, name) && len(args) > 1 {
			return [][]string{{"PERSIST", args[1]}}
		}
		return nil
	}
}

func without(name, option string) func([]string) []string {
	return func(args []string) []string {
		if !is(args, name) {
			return args
		}
		return slices.DeleteFunc(slices.Clone(args), func(a string) bool {
			return strings.EqualFold(a, option)
		})
	}
}

func change(name string, at int, f func(string) string) func([]string) []string {
	return func(args []string) []string {
		if !is(args, name) || len(args) <= at {
			return args
		}
		out := slices.Clone(args)
		out[at] = f(out[at])
		return out
	}
}

func forCommand(name string, f func(wire.Value) []byte) func([]string, wire.Value) []byte {
	return func(args []string, v wire.Value) []byte {
		if !is(args, name) {
			return v.Raw
		}
		return f(v)
	}
}

func bulk(s []byte) []byte { return []byte(fmt.Sprintf("$%d\r\n%s\r\n", len(s), s)) }

func joined(elems []wire.Value) []byte {
	var out []byte
	for _, e := range elems {
		out = append(out, e.Raw...)
	}
	return out
}
