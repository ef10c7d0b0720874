package main

import (
	"io"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// executables builds the executables of the images once, and returns their directory.
var executables = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "lockredis-image-")
	if err != nil {
		return "", err
	}
	builtIn = dir
	cmd := exec.Command("../../.ci/build-binaries", dir,
		"linux-amd64", "linux-arm64", "image-amd64", "image-arm64")
	cmd.Stderr = os.Stderr
	return dir, cmd.Run()
})

// builtIn is the directory of executables, "" before it is made.
var builtIn string

// newBuild returns a build whose executables exist.
func newBuild(t *testing.T) *build {
	t.Helper()
	dir, err := executables()
	if err != nil {
		t.Fatal(err)
	}
	return &build{root: "../..", binaries: dir, out: t.TempDir(), version: "1.2.3",
		commit: "3b912ffe1f5a", time: time.Unix(1700000000, 0).UTC(), images: map[string]v1.Image{}}
}

// shared is a build that has the images of all tests that do not change them.
var shared struct {
	once sync.Once
	*build
}

// sharedBuild returns shared, with another directory to write to.
func sharedBuild(t *testing.T) *build {
	t.Helper()
	shared.once.Do(func() { shared.build = newBuild(t) })
	b := *shared.build
	b.out, b.sums = t.TempDir(), nil
	return &b
}

func TestTwoRunsWriteEqualBytes(t *testing.T) {
	first, second := sharedBuild(t), newBuild(t)
	for _, b := range []*build{first, second} {
		if err := b.write(); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("diff", "-r", first.out, second.out).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	sums, err := os.ReadFile(filepath.Join(first.out, "SHA256SUMS"))
	if err != nil || strings.Count(string(sums), "\n") != 5 {
		t.Errorf("SHA256SUMS: %v\n%s", err, sums)
	}
}

func TestArchivesAndLayoutAreWholeAndSmall(t *testing.T) {
	b := sharedBuild(t)
	if err := b.write(); err != nil {
		t.Fatal(err)
	}
	index, err := layout.ImageIndexFromPath(filepath.Join(b.out, "oci"))
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(index); err != nil {
		t.Error(err)
	}
	for _, v := range variants {
		for _, arch := range archs {
			path := filepath.Join(b.out, "lockredis-1.2.3-image"+v.suffix+"-"+arch+".tar")
			img, err := tarball.ImageFromPath(path, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := validate.Image(img); err != nil {
				t.Errorf("%s: %v", path, err)
			}
			manifest, err := tarball.LoadManifest(tarballOpener(path))
			if err != nil {
				t.Fatal(err)
			}
			if tag := manifest[0].RepoTags[0]; tag != "lockredis/lockredis:1.2.3"+v.suffix {
				t.Errorf("%s has the tag %s", path, tag)
			}
			checkImage(t, path, img, arch)
		}
	}
}

// checkImage checks the image's platform, and that it is below 25 MB, unpacked and packed.
func checkImage(t *testing.T, path string, img v1.Image, arch string) {
	t.Helper()
	file, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if file.OS != "linux" || file.Architecture != arch || file.Config.User != "999:999" {
		t.Errorf("%s: %s/%s, user %s", path, file.OS, file.Architecture, file.Config.User)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	unpacked := int64(0)
	for _, f := range unpack(t, img, "") {
		unpacked += f.Size
	}
	const limit = 25_000_000
	if info.Size() > limit || unpacked > limit {
		t.Errorf("%s has %d bytes, unpacked %d", path, info.Size(), unpacked)
	}
}

func TestARegistryGetsAllTags(t *testing.T) {
	quiet := log.New(io.Discard, "", 0)
	server := httptest.NewServer(registry.New(registry.Logger(quiet)))
	defer server.Close()
	repository := strings.TrimPrefix(server.URL, "http://") + "/lockredis"
	b := sharedBuild(t)
	if err := b.push(repository); err != nil {
		t.Fatal(err)
	}
	repo, err := name.NewRepository(repository)
	if err != nil {
		t.Fatal(err)
	}
	tags, err := remote.List(repo)
	if err != nil {
		t.Fatal(err)
	}
	const want = "1.2.3 1.2.3-scratch 7.0 7.0-scratch latest"
	if got := strings.Join(tags, " "); got != want {
		t.Errorf("tags %q, want %q", got, want)
	}
	for _, arch := range archs {
		ref, err := name.NewTag(repository + ":7.0")
		if err != nil {
			t.Fatal(err)
		}
		img, err := remote.Image(ref, remote.WithPlatform(v1.Platform{OS: "linux", Architecture: arch}))
		if err != nil {
			t.Fatal(err)
		}
		if err := validate.Image(img); err != nil {
			t.Errorf("%s: %v", arch, err)
		}
	}
	b.version = "1.2.4-SNAPSHOT"
	if got := strings.Join(b.tags(variants[0]), " "); got != "1.2.4-SNAPSHOT" {
		t.Errorf("tags of a snapshot: %q", got)
	}
}

func TestAWrongExecutableIsRefused(t *testing.T) {
	b := newBuild(t)
	dir := t.TempDir()
	for _, arch := range archs { // the other one's
		other := map[string]string{"amd64": "arm64", "arm64": "amd64"}[arch]
		if err := os.Symlink(filepath.Join(b.binaries, "image-"+other),
			filepath.Join(dir, "image-"+arch)); err != nil {
			t.Fatal(err)
		}
	}
	b.binaries = dir
	if err := b.write(); err == nil || !strings.Contains(err.Error(), "no executable for linux-") {
		t.Errorf("error %v", err)
	}
}

// host is this machine's architecture.
func host() string { return runtime.GOARCH }
