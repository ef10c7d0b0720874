package control_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockredis/lockredis/internal/redistest"
)

// rdbFile returns the bytes of an RDB file with these data.
func rdbFile(t *testing.T, lines ...string) string {
	t.Helper()
	dir := t.TempDir()
	server, _ := start(t, map[string]string{"dir": dir, "dbfilename": "dump.rdb"})
	c := redistest.Dial(t, server.Addr())
	for _, line := range lines {
		expect(t, c, "+OK", strings.Fields(line)...)
	}
	expect(t, c, "$3\r\nlib", "FUNCTION", "LOAD", "#!lua name=lib\nredis.register_function('f', function() return 1 end)")
	expect(t, c, ":1", "RPUSH", "queue", "order")
	expect(t, c, "+OK", "SAVE")
	file, err := os.ReadFile(filepath.Join(dir, "dump.rdb"))
	if err != nil {
		t.Fatal(err)
	}
	return string(file)
}

func TestALoadReplacesAllDataAndTellsTheLeaksBefore(t *testing.T) {
	file := rdbFile(t, "SET order:1 packed", "SET order:2 sent PX 100000", "SELECT 1", "SET other:1 x", "SELECT 0")
	server, door := start(t, map[string]string{})
	kit, c := enter(t, door), redistest.Dial(t, server.Addr())
	expect(t, c, "+OK", "SET", "lock", "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "NX", "PX", "100000")
	if got := ask(kit, "CONTROL", "LOAD", file); !strings.Contains(got, "$4\r\nlock\r\n") {
		t.Errorf("the reply does not tell the lock: %q", got)
	}
	expect(t, c, ":3", "DBSIZE")
	expect(t, c, "$6\r\npacked", "GET", "order:1")
	expect(t, c, ":-1", "PTTL", "order:1")
	if got := ask(c, "PTTL", "order:2"); got < ":1" || got > ":99999" {
		t.Errorf("PTTL order:2 is %q", got)
	}
	expect(t, c, ":1", "FCALL", "f", "0")
	expect(t, c, "+OK", "SELECT", "1")
	expect(t, c, "$1\r\nx", "GET", "other:1")
	expect(t, c, "+OK", "SET", "added", "x")
	expect(t, kit, "*0", "CONTROL", "LOAD", file)
	expect(t, c, "$-1", "GET", "added")
	expect(t, kit, "*0", "LOCK.LIST")
}

func TestALoadServesWhoeverWaitsAndFailsWhoeverWatches(t *testing.T) {
	file := rdbFile(t)
	server, door := start(t, map[string]string{})
	kit, waiting, c := enter(t, door), redistest.Dial(t, server.Addr()), redistest.Dial(t, server.Addr())
	expect(t, c, "+OK", "WATCH", "queue")
	if err := waiting.Send("BLPOP", "queue", "0"); err != nil {
		t.Fatal(err)
	}
	for !strings.Contains(ask(c, "INFO", "clients"), "blocked_clients:1") {
	}
	expect(t, kit, "*", "CONTROL", "LOAD", file)
	reply, err := waiting.Receive()
	if err != nil || string(reply.Raw) != "*2\r\n$5\r\nqueue\r\n$5\r\norder\r\n" {
		t.Errorf("BLPOP's reply is %q %v", reply.Raw, err)
	}
	expect(t, c, "+OK", "MULTI")
	expect(t, c, "+QUEUED", "PING")
	expect(t, c, "*-1", "EXEC")
}

func TestALoadLeavesOutWhatHasExpired(t *testing.T) {
	file := rdbFile(t, "SET order:1 packed PX 100000", "SET order:2 sent")
	server, door := start(t, map[string]string{})
	kit, c := enter(t, door), redistest.Dial(t, server.Addr())
	expect(t, kit, "*", "CLOCK.ADVANCE", "200000")
	expect(t, kit, "*0", "CONTROL", "LOAD", file)
	expect(t, c, ":2", "DBSIZE")
	expect(t, c, "$-1", "GET", "order:1")
	expect(t, c, "$4\r\nsent", "GET", "order:2")
}

func TestALoadThatFailsChangesNothing(t *testing.T) {
	file := rdbFile(t, "SELECT 1", "SET other:1 x", "SELECT 0", "SET order:1 packed")
	flipped := []byte(file)
	flipped[len(flipped)-1] ^= 1
	server, door := start(t, map[string]string{})
	kit, c := enter(t, door), redistest.Dial(t, server.Addr())
	expect(t, c, "+OK", "SET", "before", "x")
	for want, broken := range map[string]string{
		"-ERR RDB file: wrong signature": "no file",
		"-ERR RDB file: at byte ":        string(flipped),
	} {
		expect(t, kit, want, "CONTROL", "LOAD", broken)
	}
	for i := 0; i < len(file); i += 7 {
		expect(t, kit, "-ERR RDB file: ", "CONTROL", "LOAD", file[:i])
	}
	small, smallDoor := start(t, map[string]string{"databases": "1"})
	expect(t, enter(t, smallDoor), "-ERR RDB file: at byte ", "CONTROL", "LOAD", file)
	expect(t, redistest.Dial(t, small.Addr()), ":0", "DBSIZE")
	expect(t, c, ":1", "DBSIZE")
	expect(t, c, "$1\r\nx", "GET", "before")
	expect(t, c, "*0", "FUNCTION", "LIST")
}

func TestALoadWhoseLibraryFailsKeepsTheLibraries(t *testing.T) {
	file := rdbFile(t)
	server, door := start(t, map[string]string{})
	kit, c := enter(t, door), redistest.Dial(t, server.Addr())
	expect(t, c, "$5\r\nother", "FUNCTION", "LOAD", "#!lua name=other\nredis.register_function('f', function() return 2 end)")
	expect(t, kit, "-ERR FUNCTION LOAD: ERR Function f already exists", "CONTROL", "LOAD", file)
	expect(t, c, ":2", "FCALL", "f", "0")
	expect(t, c, ":0", "DBSIZE")
}
