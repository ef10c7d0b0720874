package aof

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Log is the files of a log, in the order in which they are read.
type Log struct {
	Files []string // paths
}

// Find returns the log in dir: the files that the manifest in the folder dirname names, or the
// single file that Redis before 7.0 wrote. A directory without a log has no files. name is the
// directive appendfilename.
func Find(dir, dirname, name string) (l Log, err error) {
	folder := filepath.Join(dir, dirname)
	f, err := os.Open(filepath.Join(folder, name+".manifest"))
	if errors.Is(err, fs.ErrNotExist) {
		single := filepath.Join(dir, name)
		if info, err := os.Stat(single); err == nil && info.Mode().IsRegular() {
			l.Files = []string{single}
		}
		return l, nil
	}
	if err != nil {
		return l, err
	}
	defer f.Close()
	names, err := readManifest(bufio.NewReaderSize(f, manifestLine))
	for _, name := range names {
		l.Files = append(l.Files, filepath.Join(folder, name))
	}
	return l, err
}

// manifestLine is the size of the longest line in bytes, with its end.
const manifestLine = 1024

// readManifest returns the base file, if there is one, and the incremental files. It leaves
// out history files.
func readManifest(r *bufio.Reader) (names []string, err error) {
	var incremental []string
	last := int64(0)
	for number := 1; ; number++ {
		raw, err := r.ReadSlice('\n')
		switch {
		case len(raw) == 0 && number == 1:
			return nil, errors.New("AOF manifest: Found an empty AOF manifest")
		case len(raw) == 0:
			return append(names, incremental...), nil
		case raw[0] == '#' && err == nil:
			continue
		}
		line := strings.Trim(string(raw), " \t\r\n")
		fail := func(reason string) error {
			return fmt.Errorf("AOF manifest, line %d: %s: %q", number, reason, line)
		}
		if err != nil {
			return nil, fail("The AOF manifest file contains too long line")
		}
		name, seq, kind, reason := parseManifest(line)
		switch {
		case reason != "":
		case kind == 'b' && names != nil:
			reason = "Found duplicate base file information"
		case kind == 'b':
			names = []string{name}
		case kind == 'i' && seq <= last:
			reason = "Found a non-monotonic sequence number"
		case kind == 'i':
			last = seq
			incremental = append(incremental, name)
		case kind != 'h':
			reason = "Unknown AOF file type"
		}
		if reason != "" {
			return nil, fail(reason)
		}
	}
}

// parseManifest parses "file NAME seq NUMBER type b". Further pairs are for later versions.
func parseManifest(line string) (name string, seq int64, kind byte, reason string) {
	const invalid = "Invalid AOF manifest file format"
	words := strings.Fields(line)
	if len(words) < 6 || len(words)%2 != 0 {
		return "", 0, 0, invalid
	}
	for i := 0; i < len(words); i += 2 {
		value := words[i+1]
		if strings.HasPrefix(value, `"`) {
			if text, err := strconv.Unquote(value); err == nil {
				value = text
			}
		}
		switch strings.ToLower(words[i]) {
		case "file":
			if strings.ContainsAny(value, `/\`) {
				return "", 0, 0, "File can't be a path, just a filename"
			}
			name = value
		case "seq":
			seq, _ = strconv.ParseInt(value, 10, 64)
		case "type":
			kind = value[0]
		}
	}
	if name == "" || seq == 0 || kind == 0 {
		return "", 0, 0, invalid
	}
	return name, seq, kind, ""
}
