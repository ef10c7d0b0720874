package survey

import (
	"bytes"
	"compress/flate"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lockredis/lockredis/compat_test/wire"
	"github.com/lockredis/lockredis/internal/redistest"
)

var update = flag.Bool("update", false, "write internal/command/server/commanddocs.deflate")

// TestCommandDocsAreTakenFromRedis writes the documentation of the commands with -update.
// Otherwise it compares the file with redis-server.
func TestCommandDocsAreTakenFromRedis(t *testing.T) {
	oracle := &server{t: t, addr: redistest.Start(t).Addr}
	oracle.connect()
	oracle.do("HELLO", "3")
	docs := map[string]string{}
	collectDocs(docs, oracle.do("COMMAND", "DOCS"))
	var text bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(docs)) {
		fmt.Fprintf(&text, "$%d\r\n%s\r\n%s", len(name), name, docs[name])
	}
	var packed bytes.Buffer
	w, _ := flate.NewWriter(&packed, flate.BestCompression)
	_, _ = w.Write(text.Bytes()) // a bytes.Buffer takes everything
	_ = w.Close()
	path := filepath.Join("..", "..", "internal", "command", "server", "commanddocs.deflate")
	if *update {
		if err := os.WriteFile(path, packed.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if _, err := got.ReadFrom(flate.NewReader(bytes.NewReader(file))); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), text.Bytes()) {
		t.Error("commanddocs.deflate is not what redis-server says: make command-docs")
	}
	t.Logf("%d commands and subcommands, %d bytes, packed %d", len(docs), text.Len(), len(file))
}

// collectDocs adds the encoded entries of a reply of COMMAND DOCS, without their field
// subcommands. These are entries of their own.
func collectDocs(docs map[string]string, reply wire.Value) {
	for i := 0; i+1 < len(reply.Elems); i += 2 {
		var fields bytes.Buffer
		count := 0
		entry := reply.Elems[i+1]
		for j := 0; j+1 < len(entry.Elems); j += 2 {
			if string(entry.Elems[j].Str) == "subcommands" {
				collectDocs(docs, entry.Elems[j+1])
				continue
			}
			count++
			fields.Write(entry.Elems[j].Raw)
			fields.Write(entry.Elems[j+1].Raw)
		}
		docs[string(reply.Elems[i].Str)] = fmt.Sprintf("%%%d\r\n%s", count, fields.String())
	}
}

// names returns the names of all commands and subcommands of a server.
func (s *server) names() (names []string) {
	for _, v := range s.do("COMMAND", "LIST").Elems {
		names = append(names, string(v.Str))
	}
	slices.Sort(names)
	return names
}

// sorted renders a reply in which the order of sets and of the entries of maps does not
// count.
func sorted(v wire.Value) string {
	var parts []string
	step := 1
	if v.Kind == wire.Map {
		step = 2
	}
	for i := 0; i < len(v.Elems); i += step {
		part := ""
		for _, e := range v.Elems[i : i+step] {
			part += sorted(e) + " "
		}
		parts = append(parts, part)
	}
	if !v.IsAggregate() {
		return v.String()
	}
	if v.Kind != wire.Array {
		slices.Sort(parts)
	}
	return string(v.Kind) + "[" + strings.Join(parts, "") + "]"
}

func TestCommandInfoAndDocsAreThoseOfRedis(t *testing.T) {
	oracle, target := start(t)
	names := target.names()
	for _, proto := range []string{"2", "3"} {
		oracle.do("HELLO", proto)
		target.do("HELLO", proto)
		for _, name := range names {
			compareCommand(t, oracle, target, name)
		}
	}
	var missing []string
	for _, name := range oracle.names() {
		if !slices.Contains(names, name) {
			missing = append(missing, name)
		}
	}
	t.Logf("%d commands and subcommands compared; Redis also has: %s", len(names), strings.Join(missing, " "))
}

// compareCommand compares one command. A container whose subcommands are not all there is
// compared by its other fields.
func compareCommand(t *testing.T, oracle, target *server, name string) {
	t.Helper()
	for _, kind := range []string{"INFO", "DOCS"} {
		want, got := oracle.do("COMMAND", kind, name), target.do("COMMAND", kind, name)
		if withoutSubs(got, kind) != withoutSubs(want, kind) {
			t.Errorf("COMMAND %s %s:\n got %.600s\nwant %.600s", kind, name, withoutSubs(got, kind), withoutSubs(want, kind))
		}
	}
}

// withoutSubs renders an entry without its subcommands.
func withoutSubs(v wire.Value, kind string) string {
	if len(v.Elems) == 0 {
		return v.String()
	}
	if kind == "INFO" {
		entry := v.Elems[0]
		if len(entry.Elems) != 10 {
			return entry.String()
		}
		entry.Elems = entry.Elems[:9]
		return sorted(entry)
	}
	entry := v.Elems[1]
	for i := 0; i+1 < len(entry.Elems); i += 2 {
		if string(entry.Elems[i].Str) == "subcommands" {
			entry.Elems = slices.Delete(slices.Clone(entry.Elems), i, i+2)
			break
		}
	}
	return sorted(entry)
}

// lines are command lines for COMMAND GETKEYS of each command: they fill its arguments
// with words that several commands take.
func lines(name string) [][]string {
	words := strings.Split(name, "|")
	return [][]string{words, append(slices.Clone(words), "a"), append(slices.Clone(words), "a", "b"),
		append(slices.Clone(words), "a", "1", "c", "2"), append(slices.Clone(words), "1", "k", "l", "m"),
		append(slices.Clone(words), "a", "2", "k", "l", "m"), append(slices.Clone(words), "-1", "-1", "k"),
		append(slices.Clone(words), "a", "2x", "k", "l", "STORE", "z"),
		append(slices.Clone(words), "a", "GROUP", "g", "c", "STREAMS", "s", "t", "0", "0"),
		append(slices.Clone(words), "AND", "d", "k1", "k2", "k3"),
		append(slices.Clone(words), "h", "1", "", "0", "5", "KEYS", "a", "b"),
		append(slices.Clone(words), "h", "1", "k", "0", "5", "AUTH", "x", "KEYS", "a", "b")}
}

func TestCommandGetkeysFindsTheKeysOfRedis(t *testing.T) {
	oracle, target := start(t)
	compared := 0
	for _, name := range target.names() {
		for _, line := range lines(name) {
			for _, kind := range []string{"GETKEYS", "GETKEYSANDFLAGS"} {
				args := append([]string{"COMMAND", kind}, line...)
				want, got := oracle.do(args...), target.do(args...)
				compared++
				if sorted(got) != sorted(want) {
					t.Errorf("%q:\n got %s\nwant %s", args, got, want)
				}
			}
		}
	}
	t.Logf("%d command lines compared", compared)
}

// COMMAND LIST and COUNT speak of the commands that are there.
func TestCommandListFiltersAsRedis(t *testing.T) {
	oracle, target := start(t)
	names := target.names()
	filters := [][]string{{"PATTERN", "*get*"}, {"PATTERN", "CONFIG|*"}, {"PATTERN", "x[aclr]*"}, {"PATTERN", ""},
		{"MODULE", "x"}, {"ACLCAT", "nosuch"}, {"ACLCAT", "READ"}, {"OTHER", "x"}}
	for _, v := range oracle.do("ACL", "CAT").Elems {
		filters = append(filters, []string{"ACLCAT", string(v.Str)})
	}
	for _, f := range filters {
		args := append([]string{"COMMAND", "LIST", "FILTERBY"}, f...)
		want, got := oracle.do(args...), target.do(args...)
		known := slices.DeleteFunc(slices.Clone(want.Elems), func(v wire.Value) bool {
			return !slices.Contains(names, string(v.Str))
		})
		want.Elems = known
		if set(got) != set(want) {
			t.Errorf("%q:\n got %s\nwant %s", args, set(got), set(want))
		}
	}
	if n, _ := target.do("COMMAND", "COUNT").Int(); int(n) != len(target.do("COMMAND").Elems) {
		t.Errorf("COMMAND COUNT is %d", n)
	}
}

// set renders a reply in which the order of the elements does not count.
func set(v wire.Value) string {
	if v.IsAggregate() {
		v.Kind = wire.Set
	}
	return sorted(v)
}
