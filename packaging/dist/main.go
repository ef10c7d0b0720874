package main

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lockredis/lockredis/packaging/executable"
	"github.com/lockredis/lockredis/packaging/sbom"
)

// release is one run of the program.
type release struct {
	root     string // of the repository
	binaries string // what .ci/build-binaries wrote
	out      string
	version  string
	commit   string
	time     time.Time // of every entry

	sums map[string]string // SHA-256 of what was written, by file name
}

// platforms are the systems with an executable.
var platforms = []string{"darwin-amd64", "darwin-arm64", "linux-amd64", "linux-arm64",
	"windows-amd64", "windows-arm64"}

// documents are the files beside the executable in an archive.
var documents = []string{"LICENSE", "README.md", "THIRD_PARTY_NOTICES"}

func main() {
	r := &release{sums: map[string]string{}}
	flag.StringVar(&r.root, "root", "..", "the repository")
	flag.StringVar(&r.binaries, "binaries", "../bin", "the directory of the executables")
	flag.StringVar(&r.out, "out", "../dist", "the directory to write to")
	flag.StringVar(&r.version, "version", "", "the version")
	flag.StringVar(&r.commit, "commit", "unknown", "the source's commit")
	seconds := flag.Int64("time", 0, "the time of the entries, in seconds since 1970")
	flag.Parse()
	r.time = time.Unix(*seconds, 0).UTC()
	if err := r.write(); err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1)
	}
}

func (r *release) write() error {
	if r.version == "" {
		return fmt.Errorf("no version")
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	notices, err := os.ReadFile(filepath.Join(r.root, "THIRD_PARTY_NOTICES"))
	if err != nil {
		return err
	}
	bill := sbom.Program{Version: r.version, Commit: r.commit, Time: r.time, Dir: r.root,
		Notices: string(notices)}
	for _, platform := range platforms {
		file := r.executable(platform)
		if err := executable.Check(file, platform); err != nil {
			return err
		}
		if err := r.archive(platform); err != nil {
			return err
		}
		bill.Files = append(bill.Files, file)
	}
	text, err := bill.Write()
	if err == nil {
		err = r.save("lockredis-"+r.version+".cdx.json", text)
	}
	if err == nil {
		err = r.filled()
	}
	if err == nil {
		err = r.checksums()
	}
	return err
}

// executable returns the path of a platform's executable.
func (r *release) executable(platform string) string {
	return filepath.Join(r.binaries, platform, nameOn(platform))
}

// nameOn returns the name of the executable on a platform.
func nameOn(platform string) string {
	if strings.HasPrefix(platform, "windows-") {
		return "lockredis.exe"
	}
	return "lockredis"
}

// save writes a file and notes its checksum.
func (r *release) save(name string, text []byte) error {
	r.sums[name] = fmt.Sprintf("%x", sha256.Sum256(text))
	return os.WriteFile(filepath.Join(r.out, name), text, 0o644)
}

// checksums writes SHA256SUMS, which "sha256sum -c" reads.
func (r *release) checksums() error {
	var lines []string
	for name, sum := range r.sums {
		lines = append(lines, sum+"  "+name+"\n")
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[66:], b[66:]) })
	return os.WriteFile(filepath.Join(r.out, "SHA256SUMS"), []byte(strings.Join(lines, "")), 0o644)
}
