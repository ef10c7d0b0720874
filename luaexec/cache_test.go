package luaexec

import (
	"strings"
	"testing"
)

func TestLookupFindsAScriptByItsSHAInEitherCase(t *testing.T) {
	r := New(Options{})
	s := mustLoad(t, r, "return 1")
	if s.SHA() != "e0e1f9fabfc9d4800c877a703b823ac0578ff8db" {
		t.Fatal(s.SHA())
	}
	for _, sha := range []string{s.SHA(), strings.ToUpper(s.SHA())} {
		if found, ok := r.Lookup([]byte(sha)); !ok || found != s || !r.Exists([]byte(sha)) {
			t.Errorf("%s is not found", sha)
		}
	}
	for _, sha := range []string{
		"", "e0", s.SHA() + "0", strings.Repeat("g", 40), strings.Repeat("0", 40),
	} {
		if r.Exists([]byte(sha)) {
			t.Errorf("%q is found", sha)
		}
	}
}

func TestLoadReturnsTheCachedScriptUntilFlush(t *testing.T) {
	r := New(Options{})
	body := []byte("return 'x'")
	first := mustLoad(t, r, string(body))
	again, _, ok := r.Load(body)
	body[0] = '!'
	if !ok || again != first || r.Len() != 1 || first.Body() != "return 'x'" {
		t.Error("Load compiled the script twice, or kept the caller's bytes")
	}
	if used := r.MemoryUsed(); used < len("return 'x'") {
		t.Error(used)
	}
	r.Flush()
	if r.Len() != 0 || r.MemoryUsed() != 0 || r.Exists([]byte(first.SHA())) {
		t.Error("Flush left a script in the cache")
	}
	if got := answers(r, "return 'x'"); got != "$1\r\nx\r\n" {
		t.Error(got)
	}
}

func TestAScriptThatDoesNotCompileIsNotCached(t *testing.T) {
	r := New(Options{})
	_, failure, ok := r.Load([]byte("return 1 +"))
	want := "ERR Error compiling script (new function): user_script:1: "
	if ok || r.Len() != 0 || !strings.HasPrefix(failure.Text(), want) {
		t.Error(failure.Text())
	}
}

func TestFlagsAreReadFromTheShebangLine(t *testing.T) {
	r := New(Options{})
	const line = "#!lua flags=no-writes,allow-stale,allow-oom,no-cluster,allow-cross-slot-keys\n"
	all := Flags{
		HasShebang: true, NoWrites: true, AllowStale: true, AllowOOM: true, NoCluster: true,
		AllowCrossSlotKeys: true,
	}
	if got := mustLoad(t, r, line+"return 1").Flags(); got != all {
		t.Error(got)
	}
	if none := mustLoad(t, r, "return 1").Flags(); none != (Flags{}) {
		t.Error(none)
	}
}
