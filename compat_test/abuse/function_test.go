package abuse

import (
	"encoding/binary"
	"fmt"
	"hash/crc64"
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis/internal/redistest"
)

// asFunction is a library with one function that runs a script.
func asFunction(body string) string {
	return "#!lua name=lib\nredis.register_function('f', function(keys, args) " + body + "\nend)"
}

// counter is the code of a library that keeps a number.
const counter = "local n = 0 redis.register_function('next', function() n = n + 1 return n end)"

func TestFunctionKillEndsEveryEndlessFunction(t *testing.T) {
	redistest.SkipUnlessWhole(t)
	v := attack(t, map[string]string{"busy-reply-threshold": "10"})
	other := v.dial()
	other.SetTimeout(slack(2 * time.Second))
	v.want(other, `"state"`, "FUNCTION", "LOAD", "#!lua name=state\n"+counter)
	calls := 0
	for name, body := range endless {
		if writes(name) {
			continue
		}
		runner := v.dial()
		v.want(runner, `"lib"`, "FUNCTION", "LOAD", "REPLACE", asFunction(body))
		if err := runner.Send("FCALL", "f", "0"); err != nil {
			t.Fatal(err)
		}
		v.waitBusy(other)
		if r := v.do(other, "SCRIPT", "KILL").String(); !strings.Contains(r, "FUNCTION KILL") {
			t.Errorf("%s: SCRIPT KILL answers %s", name, r)
		}
		v.want(other, "+OK", "FUNCTION", "KILL")
		r, err := runner.ReceiveWithin(slack(2 * time.Second))
		const killed = "-ERR Script killed by user with SCRIPT KILL..."
		if err != nil || !strings.HasPrefix(r.String(), killed) {
			t.Fatalf("%s: %s %v", name, r, err)
		}
		calls++
		v.want(runner, fmt.Sprintf(":%d", calls), "FCALL", "next", "0")
		runner.Close()
	}
	v.alive()
}

func TestCloseEndsAnEndlessFunctionAndAnEndlessLoad(t *testing.T) {
	const loop = "while true do end"
	for _, code := range []string{asFunction(loop), "#!lua name=lib\n" + loop} {
		v := attack(t, map[string]string{"busy-reply-threshold": "10"})
		runner := v.dial()
		if err := runner.Send("FUNCTION", "LOAD", code); err != nil {
			t.Fatal(err)
		}
		if err := runner.Send("FCALL", "f", "0"); err != nil {
			t.Fatal(err)
		}
		v.close()
	}
}

// longName is the library among loads that can be loaded.
const longName = "a name of 10 MB"

// loads are libraries that need much time or memory while they are loaded. Any answer is
// right if it comes soon, and if the library that is there stays.
var loads = map[string]string{
	"an endless loop":     "while true do end",
	"endless recursion":   "local function f() return f() end f()",
	"deep recursion":      "local function f() return 1 + f() end f()",
	"a growing string":    "local s = 'x' while true do s = s .. s end",
	"a growing table":     "local t, i = {}, 0 while true do i = i + 1 t[i] = {i} end",
	"endless functions":   "local i = 0 while true do i = i + 1 redis.register_function('f' .. i, redis.log) end",
	"a long pattern":      "local x = ('a'):rep(300000):find('.-.-.-.-.-b')",
	"a long string":       "local x = ('x'):rep(1e15)",
	"nested functions":    strings.Repeat("local f = function() ", 10_000),
	"nested tables":       "local t = " + strings.Repeat("{", 100_000),
	"much code":           strings.Repeat("local a = redis.log\n", 190) + strings.Repeat("a = redis.log\n", 300_000),
	"a comment of 30 MB":  "--" + strings.Repeat("x", 30<<20),
	longName:              "redis.register_function(('x'):rep(1e7), function() end)",
	"much log":            "while true do redis.log(redis.LOG_DEBUG, ('x'):rep(1000)) end",
	"a callback in gsub":  "local x = ('x'):rep(1e6):gsub('x', function() local i = 0 while i < 1e9 do i = i + 1 end end)",
	"a library of no one": "\x00\xff\x1b",
}

func TestLibrariesThatAreHardToLoadLeaveTheServerUnharmed(t *testing.T) {
	redistest.SkipUnlessWhole(t)
	v := attack(t, nil)
	first := v.dial()
	loaded := "#!lua name=lib\n" + counter
	v.want(first, `"lib"`, "FUNCTION", "LOAD", loaded)
	before := measure()
	calls := 0
	for name, code := range loads {
		c := v.dial()
		c.SetTimeout(slack(10 * time.Second))
		r := v.do(c, "FUNCTION", "LOAD", "REPLACE", "#!lua name=lib\n"+code).String()
		refused := strings.HasPrefix(r, "-ERR ")
		if strings.Contains(r, "internal error") || refused == (name == longName) {
			t.Errorf("%s: %.200s", name, r)
		}
		c.Close()
		if !refused {
			calls = 0
			v.want(first, `"lib"`, "FUNCTION", "LOAD", "REPLACE", loaded)
		}
		calls++
		v.want(first, fmt.Sprintf(":%d", calls), "FCALL", "next", "0")
	}
	v.want(first, "+OK", "FUNCTION", "FLUSH")
	first.Close()
	v.alive()
	v.recovers(before)
}

func TestTenThousandFunctionsAreLoadedListedAndDumped(t *testing.T) {
	redistest.SkipUnlessWhole(t)
	v := attack(t, nil)
	c := v.dial()
	c.SetTimeout(slack(10 * time.Second))
	var code strings.Builder
	code.WriteString("#!lua name=many\n")
	for i := range 10_000 {
		fmt.Fprintf(&code, "redis.register_function('f%d', function(keys, args) return %d end)\n", i, i)
	}
	v.want(c, `"many"`, "FUNCTION", "LOAD", code.String())
	v.want(c, ":9999", "FCALL", "f9999", "0")
	list := v.do(c, "FUNCTION", "LIST")
	if len(list.Elems) != 1 || len(list.Elems[0].Elems[5].Elems) != 10_000 {
		t.Errorf("FUNCTION LIST: %.300s", list)
	}
	payload := v.do(c, "FUNCTION", "DUMP")
	v.want(c, "+OK", "FUNCTION", "RESTORE", string(payload.Str), "FLUSH")
	v.want(c, ":9999", "FCALL", "F9999", "0")
	v.alive()
}

// withFoot ends a payload of FUNCTION RESTORE with a version and a checksum.
func withFoot(body string) string {
	b := binary.LittleEndian.AppendUint16([]byte(body), 10)
	sum := ^crc64.Update(^uint64(0), crc64.MakeTable(0x95ac9329ac4bc9b5), b)
	return string(binary.LittleEndian.AppendUint64(b, sum))
}

func TestHostilePayloadsOfFunctionsAreRefused(t *testing.T) {
	v := attack(t, nil)
	c := v.dial()
	v.want(c, `"lib"`, "FUNCTION", "LOAD", asFunction("return 1"))
	good := string(v.do(c, "FUNCTION", "DUMP").Str)
	before := measure()
	hostile := []string{
		"\xf5\x81\x7f\xff\xff\xff\xff\xff\xff\xff", "\xf5\x80\xff\xff\xff\xff",
		"\xf5\xc3\x05\x81\x00\x00\x00\x40\x00\x00\x00\x00\x00\x00\x00\x00\x00",
		"\xf5\xc3\x80\xff\xff\xff\xff\x80\xff\xff\xff\xff", "\xf5\xc3\x02\x80\x7f\xff\xff\xff\xff\x00",
		strings.Repeat("\xf5\x00", 1<<16), strings.Repeat("\xf6", 1<<16),
		"\xf5" + strings.Repeat("\xc3", 1<<16),
	}
	for _, body := range hostile {
		r := v.do(c, "FUNCTION", "RESTORE", withFoot(body), "FLUSH").String()
		if !strings.HasPrefix(r, "-ERR ") {
			t.Errorf("%.20q: %.200s", body, r)
		}
	}
	rnd := newRand(t)
	for range scaled(2000) {
		body := []byte(good[:len(good)-10])
		for range 1 + rnd.IntN(4) {
			body[rnd.IntN(len(body))] = byte(rnd.Uint32())
		}
		payload := withFoot(string(body[:rnd.IntN(len(body)+1)]))
		r := v.do(c, "FUNCTION", "RESTORE", payload, "FLUSH").String()
		if strings.Contains(r, "internal error") {
			t.Fatalf("%q: %s", body, r)
		}
	}
	v.want(c, "+OK", "FUNCTION", "RESTORE", good, "FLUSH")
	v.want(c, ":1", "FCALL", "f", "0")
	v.want(c, "+OK", "FUNCTION", "FLUSH")
	c.Close()
	v.alive()
	v.recovers(before)
}
