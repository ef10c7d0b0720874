package differential

// This file lists what replies of lockredis may differ from those of Valkey beside what
// exceptions_test.go allows. docs/valkey.md has the same list.

import (
	"regexp"
	"slices"
	"strings"

	"github.com/lockredis/lockredis/compat_test/wire"
)

// notAsInValkey are commands of Redis 7.0 that Valkey answers in another way.
//
//	BITCOUNT, BITPOS: Valkey checks their numbers when the key is missing, too.
//	COMMAND GETKEYS: a command without arguments is an error of another kind.
//	LTRIM: in Valkey it is no change when it removes nothing.
//	SORT: Valkey refuses an empty weight. SORT_RO, which is compared, does the rest.
var notAsInValkey = []string{"BITCOUNT", "BITPOS", "COMMAND GETKEYS", "LTRIM", "SORT"}

// asValkeyReads changes arguments that Valkey reads in another way: in CLIENT UNBLOCK it ignores
// words at the end, HELLO has no effect before all its words are right, the lowest number in LREM
// and LPOS is an error, and so is an empty or negative cursor. The events of HSETEX name another
// key when the key's name is an option.
func asValkeyReads(args []string) []string {
	name := strings.ToUpper(args[0])
	cursor := 2
	switch {
	case name == "CLIENT" && len(args) > 4 && strings.EqualFold(args[1], "UNBLOCK"):
		return args[:4]
	case name == "HELLO":
		return rightHello(args)
	case name == "LREM" || name == "LPOS":
		for i, a := range args {
			if i > 1 && a == edgeInts[1] {
				args[i] = "-1"
			}
		}
		return args
	case name == "HSETEX" && len(args) > 1 && args[1] == "NX":
		args[1] = "h0"
		return args
	case name == "SCAN":
		cursor = 1
	case !strings.HasSuffix(name, "SCAN"):
		return args
	}
	if len(args) > cursor && (args[cursor] == "" || args[cursor] == "-1") {
		args[cursor] = "x"
	}
	return args
}

// rightHello leaves out what follows the first wrong word of a HELLO.
func rightHello(args []string) []string {
	end := min(len(args), 2)
	for end < len(args) {
		next := end
		switch strings.ToUpper(args[end]) {
		case "AUTH":
			next += 3
		case "SETNAME":
			next += 2
		}
		if next == end || next > len(args) {
			break
		}
		end = next
	}
	return args[:end]
}

// abortInValkey are commands that Valkey refuses inside MULTI, so that EXEC fails.
var abortInValkey = []string{"MULTI", "WATCH"}

// otherAccesses are commands that count accesses in another way. After most of them the value has
// an object with a count of its own.
var otherAccesses = strings.Fields("RENAME RENAMENX MOVE COPY RESTORE RESTORE-ASKING MSETNX")

// blockingCommands answer in a script of Valkey as they do in EXEC. Redis refuses them there.
var blockingCommands = strings.Fields("BLPOP BRPOP BLMOVE BRPOPLPUSH BLMPOP BZPOPMIN BZPOPMAX BZMPOP WAIT WAITAOF")

// exceptionOf returns the exception for a command.
func (m mode) exceptionOf(args []string) (exception, bool) {
	return emission{valkey: m.valkey}.exceptionOf(args)
}

// exceptionOf returns the exception for a command.
func (e emission) exceptionOf(args []string) (exception, bool) {
	if e.valkey {
		if x, ok := valkeyExceptionOf(args); ok {
			return x, true
		}
	}
	return exceptionOf(args)
}

func valkeyExceptionOf(args []string) (exception, bool) {
	name := strings.ToUpper(args[0])
	if slices.Contains([]string{"OBJECT", "CLIENT"}, name) && len(args) > 1 {
		name += " " + strings.ToUpper(args[1])
	}
	switch name {
	case "HTTL", "HEXPIRETIME":
		return exception{same: eachWithin(withinSeconds), timing: true}, true
	case "HPTTL", "HPEXPIRETIME":
		return exception{same: eachWithin(withinSlack), timing: true}, true
	case "EVAL":
		if len(args) > 1 && args[1] == deadlinesScript {
			return exception{same: eachWithin(withinSlack), timing: true}, true
		}
	case "OBJECT ENCODING":
		return exception{same: sameEncoding}, true
	case "CLIENT INFO":
		return exception{same: sameClient}, true
	case "DUMP":
		return exception{same: sameValkeyDump}, true
	case "ROLE":
		return exception{same: sameShape}, true
	}
	return exception{}, false
}

// eachWithin compares arrays of integers.
func eachWithin(same func(comparison) bool) func(comparison) bool {
	return func(c comparison) bool {
		if c.oracle.Kind != wire.Array || c.target.Kind != wire.Array || len(c.oracle.Elems) != len(c.target.Elems) {
			return false
		}
		for i := range c.oracle.Elems {
			one := c
			one.oracle, one.target = c.oracle.Elems[i], c.target.Elems[i]
			if !same(one) {
				return false
			}
		}
		return true
	}
}

// sameEncoding allows Valkey's encoding of short lists, its own choice among the encodings of
// strings, and the large encodings that it chooses when a command names an element twice.
func sameEncoding(c comparison) bool {
	switch string(c.oracle.Str) + " " + string(c.target.Str) {
	case "listpack quicklist", "skiplist listpack", "hashtable listpack", "hashtable intset":
		return true
	}
	strings := []string{"int", "embstr", "raw"}
	return slices.Contains(strings, string(c.oracle.Str)) && slices.Contains(strings, string(c.target.Str))
}

// clientFields are the fields of CLIENT INFO that are compared.
var clientFields = regexp.MustCompile(`\b(name|db|resp|lib-name|lib-ver)=\S*`)

func sameClient(c comparison) bool {
	a, b := clientFields.FindAllString(string(c.oracle.Str), -1), clientFields.FindAllString(string(c.target.Str), -1)
	return len(a) == 5 && slices.Equal(a, b)
}

// sameValkeyDump is sameDump for payloads in other forms: Valkey has one of its own for streams,
// it ends the nodes of lists elsewhere, and see sameEncoding.
func sameValkeyDump(c comparison) bool {
	if len(c.oracle.Str) == 0 || len(c.target.Str) == 0 {
		return false
	}
	const hash, hashPacked, sorted, sortedPacked, set, ints = 4, 16, 5, 17, 2, 11
	const list, stream, streamValkey = 18, 19, 21
	const deadlines = 22 // a hash whose fields have deadlines: a table, and times
	switch [2]byte{c.oracle.Str[0], c.target.Str[0]} {
	case [2]byte{hash, hashPacked}, [2]byte{sorted, sortedPacked}, [2]byte{streamValkey, stream},
		[2]byte{set, ints}, [2]byte{list, list}, [2]byte{deadlines, deadlines}:
		return true
	}
	return sameDump(c)
}

// refusal is an error of Valkey where Redis answers something else, or finds another error first.
type refusal struct{ command, text string }

var refusals = []refusal{
	{"SCAN", "ERR unknown type name"}, {"SORT_RO", "ERR One or more scores can't be converted"},
	{"HELLO", "ERR Client names cannot contain"},
	{"BLPOP", "ERR timeout is out of range"}, {"BRPOP", "ERR timeout is out of range"},
	{"BLMOVE", "ERR timeout is out of range"}, {"BRPOPLPUSH", "ERR timeout is out of range"},
	{"BLMPOP", "ERR timeout is out of range"},
}

// isRefused reports whether a difference is one of refusals.
func isRefused(e emission, c comparison) bool {
	return e.inv != nil && c.oracle.IsError() && slices.ContainsFunc(refusals, func(r refusal) bool {
		return strings.EqualFold(e.inv.args[0], r.command) && strings.HasPrefix(string(c.oracle.Str), r.text)
	})
}

// scriptName is the name of a script in an error. Valkey leaves it out.
var scriptName = regexp.MustCompile(` script: \w+, on @`)

// renamed are the words in Valkey's errors about scripts that take the place of Redis's.
var renamed = strings.NewReplacer("server.", "redis.", "This Valkey command", "This Redis command",
	"calling command from", "calling Redis command from", "Unknown command called", "Unknown Redis command called",
	"for this call", "for this redis lib call", "ERR Command arguments", "ERR Lua redis lib command arguments",
	"No matching script. Please use EVAL.", "No matching script.")

// sameInValkeysWords compares errors, and what scripts make of them, without Valkey's own words.
func sameInValkeysWords(e emission, c comparison) bool {
	script := strings.HasPrefix(strings.ToUpper(c.args[0]), "EVAL") || strings.HasPrefix(strings.ToUpper(c.args[0]), "FCALL")
	if !script && !c.oracle.IsError() {
		return false
	}
	if e.inv != nil && e.inv.luaText {
		a, b := c.oracle, c.target
		a.Str, b.Str = []byte(strings.Trim(asRedisSays(a), "-\r\n")), []byte(strings.Trim(asRedisSays(b), "-\r\n"))
		if a.IsError() && sameBesideLua(a, b) {
			return true
		}
	}
	return asRedisSays(c.oracle) == asRedisSays(c.target) || isRefused(e, c)
}

// asRedisSays returns the texts of a reply with the words of Redis 7.0, and without the name of a
// script.
func asRedisSays(v wire.Value) string {
	if !v.IsAggregate() {
		text := string(v.Raw)
		if v.Kind == wire.BulkString && !v.IsNil {
			text = string(v.Str) // its length differs
		}
		return scriptName.ReplaceAllString(renamed.Replace(text), " script: on @")
	}
	parts := []string{string(rune(v.Kind))}
	for _, e := range v.Elems {
		parts = append(parts, asRedisSays(e))
	}
	return strings.Join(parts, "\n")
}

// notInValkey are scripts whose results are others in Valkey: it writes floating-point numbers in
// their shortest form, has a table os, and runs blocking commands in scripts.
var notInValkey = []string{
	"return {double=3.1}", "redis.setresp(3) return {double=3.1}", "return redis.log(9,'x')",
	"return redis.set_repl()", "redis.call('SET','s0',0.1) return redis.call('GET','s0')",
	"redis.call('SET','s0',2^63) return redis.call('GET','s0')",
	"redis.call('SET','s0',1/3) return redis.call('GET','s0')",
	"redis.call('SET','s0',-0.0) return redis.call('GET','s0')",
	"redis.call('SET','s0',123456789012345678) return redis.call('GET','s0')",
	"return redis.call('BLPOP','missing',0)", "return type(os)", "return type(os.clock)", "#!nolua\nreturn 1",
}

// valkeyBorders are the scripts for a comparison with Valkey.
func valkeyBorders() []border {
	return slices.DeleteFunc(borders(), func(b border) bool { return slices.Contains(notInValkey, b.source) })
}
