package aof

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheManifestNamesTheFilesInOrder(t *testing.T) {
	for _, test := range []struct{ manifest, want string }{
		{"file b seq 2 type b\nfile old seq 1 type h\nfile i3 seq 3 type i\nfile i5 seq 5 type i more words\n", "b i3 i5"},
		{"# comment\nfile i seq 1 type i\nFILE \"b\" SEQ 1 TYPE base\n", "b i"},
		{"", "empty AOF manifest"},
		{"\n", "Invalid AOF manifest file format"},
		{"file b seq 1\n", "Invalid AOF manifest file format"},
		{"file b seq 0 type b\n", "Invalid AOF manifest file format"},
		{"file b seq 1 type b\nfile c seq 2 type b\n", "line 2: Found duplicate base file information"},
		{"file a seq 2 type i\nfile b seq 2 type i\n", "Found a non-monotonic sequence number"},
		{"file a seq 1 type x\n", "Unknown AOF file type"},
		{"file ../a seq 1 type b\n", "File can't be a path, just a filename"},
		{"file a seq 1 type b", "too long line"},
		{"file " + strings.Repeat("a", 2000) + " seq 1 type b\n", "too long line"},
	} {
		names, err := readManifest(bufio.NewReaderSize(strings.NewReader(test.manifest), manifestLine))
		got := strings.Join(names, " ")
		if err != nil {
			got = err.Error()
		}
		if err == nil && got != test.want || !strings.Contains(got, test.want) {
			t.Errorf("%.60q: %s, want %s", test.manifest, got, test.want)
		}
	}
}

func TestALogIsFoundByItsManifestOrAsASingleFile(t *testing.T) {
	dir := t.TempDir()
	find := func() string {
		l, err := Find(dir, "logs", "a.aof")
		return fmt.Sprint(l.Files, " ", err)
	}
	if got := find(); got != "[] <nil>" {
		t.Errorf("no log: %s", got)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a.aof", "")
	if got := find(); !strings.HasSuffix(got, "a.aof] <nil>") {
		t.Errorf("single file: %s", got)
	}
	if err := os.Mkdir(filepath.Join(dir, "logs"), 0o700); err != nil {
		t.Fatal(err)
	}
	write("logs/a.aof.manifest", "file x seq 1 type i\n")
	if got, want := find(), fmt.Sprint("[", filepath.Join(dir, "logs", "x"), "] <nil>"); got != want {
		t.Errorf("manifest: %s, want %s", got, want)
	}
}

func TestCommandsAreReadUntilTheFileEndsOrIsBroken(t *testing.T) {
	for _, test := range []struct {
		file string
		want int
		err  error
	}{
		{"", 0, nil},
		{"#TS:1\r\n*1\r\n$1\r\na\r\n#TS:2\r\n*2\r\n$0\r\n\r\n$1\r\nb\r\n", 2, nil},
		{"*1\r\n$1\r\na\r\n*1\r\n$1\r\n", 1, ErrTruncated},
		{"*1\r\n$1\r\na\r\n*1\r\n$9\r\nab", 1, ErrTruncated},
		{"*1\r\n$1\r\na\r\n*", 1, ErrTruncated},
		{"*1\r\n$1\r\na\r", 0, ErrTruncated},
		{"#TS", 0, ErrTruncated},
		{"*0\r\n", 0, ErrFormat}, {"*x\r\n", 0, ErrFormat}, {"+1\r\n", 0, ErrFormat},
		{"*1\r\n*1\r\n", 0, ErrFormat}, {"*1\r\n$-1\r\n", 0, ErrFormat},
		{"*9223372036854775807\r\n", 0, ErrFormat}, {"*1\r\n$9223372036854775807\r\n", 0, ErrTruncated},
		{"*" + strings.Repeat("1", 200) + "\r\n", 0, ErrFormat},
	} {
		n := 0
		err := Commands(bufio.NewReader(strings.NewReader(test.file)), int64(len(test.file)), func([][]byte) error {
			n++
			return nil
		})
		if n != test.want || !errors.Is(err, test.err) {
			t.Errorf("%q: %d commands, error %v", test.file, n, err)
		}
	}
	stop := errors.New("stop")
	file := bytes.Repeat([]byte("*1\r\n$1\r\na\r\n"), 2)
	if err := Commands(bufio.NewReader(bytes.NewReader(file)), 22, func([][]byte) error { return stop }); err != stop {
		t.Errorf("error %v", err)
	}
}
