package luaexec

import (
	"bytes"
	"strings"

	"github.com/lockredis/lockredis/resp"
)

// Flags are the flags that a script declares in its first line, such as
// "#!lua flags=no-writes,allow-stale". A script without that line runs as before
// Redis 7: its flags depend on the commands that it calls.
type Flags struct {
	HasShebang         bool
	NoWrites           bool // no-writes: write commands are refused
	AllowOOM           bool // allow-oom: the script runs when memory is used up
	AllowStale         bool // allow-stale: the script runs on a stale replica
	NoCluster          bool // no-cluster: the script is refused in cluster mode
	AllowCrossSlotKeys bool // allow-cross-slot-keys: keys may be in several slots
}

// set sets the flag with this name. It reports whether there is one.
func (f *Flags) set(name string) bool {
	switch name {
	case "no-writes":
		f.NoWrites = true
	case "allow-oom":
		f.AllowOOM = true
	case "allow-stale":
		f.AllowStale = true
	case "no-cluster":
		f.NoCluster = true
	case "allow-cross-slot-keys":
		f.AllowCrossSlotKeys = true
	default:
		return false
	}
	return true
}

// Names returns the names of the flags in Redis's order.
func (f Flags) Names() (names []string) {
	for _, flag := range []struct {
		set  bool
		name string
	}{
		{f.NoWrites, "no-writes"}, {f.AllowOOM, "allow-oom"}, {f.AllowStale, "allow-stale"},
		{f.NoCluster, "no-cluster"}, {f.AllowCrossSlotKeys, "allow-cross-slot-keys"},
	} {
		if flag.set {
			names = append(names, flag.name)
		}
	}
	return names
}

// DeclaredFlags returns the flags of a script without compiling it: a script that
// does not compile has flags too. The result is the zero value if there is no
// shebang line, or if Load would refuse the line.
func DeclaredFlags(body []byte) Flags {
	end := bytes.IndexByte(body, '\n')
	if end < 0 || !bytes.HasPrefix(body, []byte("#!")) {
		return Flags{}
	}
	f, _, failure := parseShebang(string(body[:end+1]))
	if failure != "" {
		return Flags{}
	}
	return f
}

// parseShebang reads the first line of a script if it starts with "#!". source is
// the rest, to be compiled. It keeps the newline of the first line, so that the
// line numbers of errors are right. failure is the error text, "" for none.
func parseShebang(body string) (f Flags, source, failure string) {
	if !strings.HasPrefix(body, "#!") {
		return f, body, ""
	}
	end := strings.IndexAny(body, "\n\x00")
	if end < 0 || body[end] == 0 {
		return f, "", "ERR Invalid script shebang"
	}
	parts, ok := resp.SplitLine([]byte(body[:end]))
	if !ok || len(parts) == 0 {
		return f, "", "ERR Invalid engine in script shebang"
	}
	if engine := string(parts[0]); engine != "#!lua" {
		return f, "", "ERR Unexpected engine in script shebang: " + engine
	}
	f.HasShebang = true
	for _, part := range parts[1:] {
		list, found := strings.CutPrefix(string(part), "flags=")
		if !found {
			return f, "", "ERR Unknown lua shebang option: " + string(part)
		}
		if list == "" {
			continue
		}
		for _, name := range strings.Split(list, ",") {
			if !f.set(name) {
				return f, "", "ERR Unexpected flag in script shebang: " + name
			}
		}
	}
	return f, body[end:], ""
}
