package differential

import (
	"strings"

	"github.com/lockredis/lockredis/compat_test/wire"
)

// library returns the source text of a library with one function. With several functions
// FUNCTION LIST has the order of redis-server's hash table.
func library(name, function string) string { return "#!lua name=" + name + "\n" + function }

// libraries are the arguments of FUNCTION LOAD: libraries that take each other's places
// and names, and texts that are no library.
func libraries() (common, wrong []string) {
	const plain, named = "redis.register_function('", "redis.register_function{function_name='"
	common = []string{
		library("one", plain+"f1', function(keys, args) return {#keys, #args, keys, args} end)"),
		library("one", plain+"f2', function(keys, args) "+
			"return redis.call('SET', 's0', args[1] or 'x') end)"),
		library("two", "local n = 0 "+plain+"f2', function() n = n + 1 return n end)"),
		library("two", plain+"F1', function() error({err = 'MINE text'}) end)"),
		library("three", named+"f3', callback = function() return redis.call('GET', 's0') end, "+
			"flags = {'no-writes', 'allow-oom'}, description = 'reads'}"),
		library("three", named+"f3', callback = function() return redis.call('DEL', 's0') end, "+
			"flags = {'no-writes'}}"),
		library("_4", named+"f4', callback = function() return redis.pcall('LPUSH', 's0', 'a') end}"),
	}
	wrong = []string{
		library("one", ""), library("a b", "x"), library("one", "x = 1"), library("one", "x ="),
		library("one", plain+"f9', 1)"), library("one", "return redis.call('PING')"), "return 1", "",
		library("one", "local v = pairs"), "#!lua\n", "#!js name=one\n",
	}
	return common, wrong
}

// functionPayloads are the arguments of FUNCTION RESTORE. None that is right has two
// libraries: which of two names redis-server reports as taken depends on its hash table.
func functionPayloads() (common, wrong []string) {
	code := func(text string) string {
		const opcode, length14 = "\xf5", 0x40
		return opcode + string([]byte{byte(length14 | len(text)>>8), byte(len(text))}) + text
	}
	sources, bad := libraries()
	common = []string{
		payload(code(sources[0]), 10), payload(code(sources[2]), 10), payload("", 10),
		payload(code(sources[4]), 9), payload(code(sources[6]), 10),
	}
	wrong = []string{
		payload(code(bad[0]), 10), payload(code(sources[0])+code(sources[1]), 10),
		payload("\xf5\x40", 10),
		payload("\x00\x01x", 10), payload(code(sources[0]), 11), "", "x",
	}
	return common, wrong
}

// sameFunctionDump accepts the libraries in another order, so that the payloads have the
// same length.
func sameFunctionDump(c comparison) bool {
	return c.oracle.Kind == wire.BulkString && c.target.Kind == wire.BulkString &&
		len(c.oracle.Str) == len(c.target.Str)
}

func functionCommands() []command {
	name := mostly([]string{"f1", "f2", "f3"}, []string{"f4", "F2"}, []string{"nosuch", ""})
	keys := counted(0, 2, key("s"))
	call := seq(name, oneOf(keys, keys, word(wrongCounts)), many(0, 2, value))
	sources, bad := libraries()
	payloads, broken := functionPayloads()
	libraryName := mostly([]string{"one", "two", "three"}, []string{"_4"}, []string{"ONE", "nosuch", ""})
	return []command{
		{"FCALL", 8, "", call},
		{"FCALL_RO", 4, "", call},
		{"FUNCTION LOAD", 6, "REPLACE", seq(opt(70, word([]string{"REPLACE", "REPLACE", "replace", "other"})),
			mostly(sources, sources, bad))},
		{"FUNCTION DELETE", 2, "", libraryName},
		{"FUNCTION LIST", 3, "LIBRARYNAME WITHCODE", seq(
			opt(70, word([]string{"LIBRARYNAME", "LIBRARYNAME", "libraryname", "other"}), oneOf(libraryName, glob)),
			opt(40, word([]string{"WITHCODE", "WITHCODE", "withcode", "LIBRARYNAME"})))},
		{"FUNCTION STATS", 2, "", opt(10, lit("extra"))},
		{"FUNCTION RESTORE", 3, "APPEND FLUSH REPLACE", seq(mostly(payloads, payloads, broken),
			opt(80, word(strings.Fields("APPEND FLUSH REPLACE APPEND REPLACE APPEND flush other")), opt(5, lit("extra"))))},
		{"FUNCTION FLUSH", 2, "SYNC ASYNC", opt(85, word([]string{"SYNC", "ASYNC", "SYNC", "ASYNC", "later"}), opt(10, lit("extra")))},
		{"FUNCTION DUMP", 1, "", opt(10, lit("extra"))},
		{"FUNCTION KILL", 1, "", lit()},
	}
}
