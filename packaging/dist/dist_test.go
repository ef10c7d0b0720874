package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockredis/lockredis/packaging/executable"
)

// newRelease returns a release whose executables are an empty program, built for every
// platform in the directory binaries.
func newRelease(t *testing.T, binaries string) *release {
	t.Helper()
	return &release{root: "../..", binaries: binaries, out: t.TempDir(), version: "1.2.3",
		commit: "3b912ffe1f5a", time: time.Unix(1700000001, 0), sums: map[string]string{}}
}

// executables builds an empty program for every platform, once, and returns their
// directory.
var executables = sync.OnceValues(func() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "lockredis-dist-"); err != nil {
		return "", err
	}
	builtIn = dir
	source := map[string]string{"go.mod": "module empty\n\ngo 1.26\n",
		"main.go": "package main\n\nfunc main() {}\n"}
	for name, text := range source {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return dir, err
		}
	}
	for _, platform := range platforms {
		system, arch, _ := strings.Cut(platform, "-")
		output := filepath.Join(platform, nameOn(platform))
		cmd := exec.Command("go", "build", "-trimpath", "-o", output, ".")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch,
			"GOWORK=off", "GOFLAGS=")
		if out, err := cmd.CombinedOutput(); err != nil {
			return dir, fmt.Errorf("%s: %w\n%s", platform, err, out)
		}
	}
	return dir, nil
})

// builtIn is the directory of executables, "" before it is made.
var builtIn string

func TestMain(m *testing.M) {
	status := m.Run()
	os.RemoveAll(builtIn)
	os.Exit(status)
}

// build returns the directory of executables.
func build(t *testing.T) string {
	t.Helper()
	dir, err := executables()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestAReleaseHasAnArchiveForEachPlatformAndEqualBytesEachTime(t *testing.T) {
	binaries := build(t)
	first, second := newRelease(t, binaries), newRelease(t, binaries)
	if err := first.write(); err != nil {
		t.Fatal(err)
	}
	if err := second.write(); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(first.out, "*"))
	if err != nil {
		t.Fatal(err)
	}
	if len(names) != len(platforms)+4 {
		t.Errorf("files: %v", names)
	}
	for _, name := range names {
		if a, b := read(t, name), read(t, filepath.Join(second.out, filepath.Base(name))); a != b {
			t.Errorf("%s differs between two runs", filepath.Base(name))
		}
	}
	for _, platform := range platforms {
		want := []string{nameOn(platform) + " -rwxr-xr-x"}
		for _, name := range documents {
			want = append(want, name+" -rw-r--r--")
		}
		folder := "lockredis-1.2.3-" + platform
		got := contents(t, filepath.Join(first.out, folder))
		for i, line := range got {
			got[i] = strings.TrimPrefix(line, folder+"/")
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s has %q, want %q", platform, got, want)
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// contents returns the names and the modes of an archive's files. path has no ending.
func contents(t *testing.T, path string) (lines []string) {
	t.Helper()
	if strings.Contains(path, "windows") {
		archive, err := zip.OpenReader(path + ".zip")
		if err != nil {
			t.Fatal(err)
		}
		defer archive.Close()
		for _, file := range archive.File {
			lines = append(lines, file.Name+" "+file.Mode().String())
		}
		return lines
	}
	packed, err := gzip.NewReader(strings.NewReader(read(t, path+".tar.gz")))
	if err != nil {
		t.Fatal(err)
	}
	for archive := tar.NewReader(packed); ; {
		header, err := archive.Next()
		if err == io.EOF {
			return lines
		}
		if err != nil {
			t.Fatal(err)
		}
		if header.Typeflag == tar.TypeReg {
			lines = append(lines, header.Name+" "+header.FileInfo().Mode().String())
		}
	}
}

func TestAnExecutableForAnotherPlatformIsRefused(t *testing.T) {
	binaries := build(t)
	file := func(platform string) string {
		return filepath.Join(binaries, platform, nameOn(platform))
	}
	for _, platform := range platforms {
		for _, other := range platforms {
			if err := executable.Check(file(other), platform); (err == nil) != (other == platform) {
				t.Errorf("%s as %s: %v", other, platform, err)
			}
		}
	}
	if err := executable.Check("/bin/sh", "linux-amd64"); err == nil {
		t.Error("a dynamic executable is accepted")
	}
	// As strip does: the signature's load command becomes another one.
	mac := []byte(read(t, file("darwin-arm64")))
	at := bytes.Index(mac, []byte{0x1d, 0, 0, 0, 16, 0, 0, 0})
	mac[at] = 0x1c
	stripped := filepath.Join(t.TempDir(), "lockredis")
	if err := os.WriteFile(stripped, mac, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := executable.Check(stripped, "darwin-arm64"); err == nil {
		t.Error("an executable without a signature is accepted")
	}
}

func TestTheFormulaAndTheScriptHaveTheChecksums(t *testing.T) {
	r := newRelease(t, build(t))
	if err := r.write(); err != nil {
		t.Fatal(err)
	}
	formula := read(t, filepath.Join(r.out, "lockredis.rb"))
	script := read(t, filepath.Join(r.out, "install.sh"))
	for _, platform := range platforms {
		name := "lockredis-1.2.3-" + platform + ".tar.gz"
		if strings.HasPrefix(platform, "windows-") {
			continue
		}
		want := fmt.Sprintf("/v1.2.3/%s\"\n      sha256 %q", name, r.sums[name])
		if r.sums[name] == "" || !strings.Contains(formula, want) {
			t.Errorf("the formula has no %s", want)
		}
		if want := "platform=" + platform + " sum=" + r.sums[name]; !strings.Contains(script, want) {
			t.Errorf("the script has no %s", want)
		}
	}
}

func TestTheBillIsCycloneDX(t *testing.T) {
	r := newRelease(t, build(t))
	if err := r.write(); err != nil {
		t.Fatal(err)
	}
	var bill struct {
		BOMFormat, SpecVersion string
		Metadata               struct {
			Timestamp string
			Component struct{ Purl string }
		}
		Components []struct{ Name, Purl string }
	}
	text := read(t, filepath.Join(r.out, "lockredis-1.2.3.cdx.json"))
	if err := json.Unmarshal([]byte(text), &bill); err != nil {
		t.Fatal(err)
	}
	if bill.BOMFormat != "CycloneDX" || bill.SpecVersion != "1.5" ||
		bill.Metadata.Timestamp != "2023-11-14T22:13:21Z" ||
		bill.Metadata.Component.Purl != "pkg:golang/github.com/lockredis/lockredis@v1.2.3" ||
		len(bill.Components) != 1 || bill.Components[0].Name != "stdlib" {
		t.Errorf("%s", text)
	}
}
