package main

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/packaging/executable"
	"github.com/lockredis/lockredis/packaging/sbom"
)

// build is one run of the program.
type build struct {
	root     string // of the repository
	binaries string // what .ci/build-binaries wrote
	out      string
	version  string
	commit   string
	time     time.Time // of every entry

	sums   []string            // lines of SHA256SUMS
	images map[string]v1.Image // made so far, by tag's suffix and architecture
}

// variant is an image for all architectures.
type variant struct {
	suffix string // of the tag
	folder string // the executables' folder, without the architecture
	shell  bool
}

var (
	variants = []variant{{"", "image-", true}, {"-scratch", "linux-", false}}
	archs    = []string{"amd64", "arm64"}
)

func main() {
	b := &build{images: map[string]v1.Image{}}
	flag.StringVar(&b.root, "root", "..", "the repository")
	flag.StringVar(&b.binaries, "binaries", "../bin", "the directory of the executables")
	flag.StringVar(&b.out, "out", "../dist/image", "the directory to write to")
	flag.StringVar(&b.version, "version", "", "the version")
	flag.StringVar(&b.commit, "commit", "unknown", "the source's commit")
	seconds := flag.Int64("time", 0, "the time of the entries, in seconds since 1970")
	push := flag.String("push", "", "a repository to push to, such as example.com/lockredis")
	flag.Parse()
	b.time = time.Unix(*seconds, 0).UTC()
	err := b.write()
	if err == nil && *push != "" {
		err = b.push(*push)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

// write writes the archives, the layout, the bill of materials and the checksums.
func (b *build) write() error {
	if b.version == "" {
		return fmt.Errorf("no version")
	}
	if err := os.MkdirAll(b.out, 0o755); err != nil {
		return err
	}
	folder, err := layout.Write(filepath.Join(b.out, "oci"), empty.Index)
	if err != nil {
		return err
	}
	for _, v := range variants {
		index, err := b.index(v)
		if err != nil {
			return err
		}
		err = folder.AppendIndex(index, layout.WithAnnotations(map[string]string{
			"org.opencontainers.image.ref.name": b.version + v.suffix,
		}))
		if err != nil {
			return err
		}
		for _, arch := range archs {
			if err := b.archive(v, arch); err != nil {
				return err
			}
		}
	}
	if err := b.bill(); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(b.out, "SHA256SUMS"), []byte(strings.Join(b.sums, "")), 0o644)
}

// executable returns the path of the executable of an image.
func (b *build) executable(v variant, arch string) string {
	return filepath.Join(b.binaries, v.folder+arch, "lockredis")
}

// index returns the images of a variant, by platform.
func (b *build) index(v variant) (v1.ImageIndex, error) {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, arch := range archs {
		img, err := b.image(v, arch)
		if err != nil {
			return nil, err
		}
		p := platform(arch)
		index = mutate.AppendManifests(index,
			mutate.IndexAddendum{Add: img, Descriptor: v1.Descriptor{Platform: &p}})
	}
	return index, nil
}

// archive writes the archive for "docker load" of one image.
func (b *build) archive(v variant, arch string) error {
	img, err := b.image(v, arch)
	if err != nil {
		return err
	}
	tag, err := name.NewTag("lockredis/lockredis:" + b.version + v.suffix)
	if err != nil {
		return err
	}
	file := "lockredis-" + b.version + "-image" + v.suffix + "-" + arch + ".tar"
	path := filepath.Join(b.out, file)
	if err := tarball.WriteToFile(path, tag, img); err != nil {
		return err
	}
	return b.sum(file)
}

// bill writes the bill of materials of the image with a shell. It is also the bill of the
// image without one, which has fewer modules.
func (b *build) bill() error {
	bill := sbom.Program{Version: b.version, Commit: b.commit, Time: b.time,
		Dir: filepath.Join(b.root, "packaging")}
	for _, path := range notices {
		text, err := os.ReadFile(filepath.Join(b.root, path))
		if err != nil {
			return err
		}
		bill.Notices += string(text)
	}
	for _, v := range variants {
		for _, arch := range archs {
			bill.Files = append(bill.Files, b.executable(v, arch))
		}
	}
	text, err := bill.Write()
	if err != nil {
		return err
	}
	file := "lockredis-" + b.version + "-image.cdx.json"
	if err := os.WriteFile(filepath.Join(b.out, file), text, 0o644); err != nil {
		return err
	}
	return b.sum(file)
}

// sum notes the checksum of a file that was written.
func (b *build) sum(file string) error {
	text, err := os.ReadFile(filepath.Join(b.out, file))
	b.sums = append(b.sums, fmt.Sprintf("%x  %s\n", sha256.Sum256(text), file))
	return err
}

// tags returns the tags of a variant. A release has the tags of the Redis version too,
// because test libraries read a version from a tag.
func (b *build) tags(v variant) []string {
	tags := []string{b.version + v.suffix}
	if strings.Contains(b.version, "-") {
		return tags
	}
	redis := config.RedisVersion[:strings.LastIndexByte(config.RedisVersion, '.')]
	tags = append(tags, redis+v.suffix)
	if v.suffix == "" {
		tags = append(tags, "latest")
	}
	return tags
}

// push pushes all images to a repository, with the credentials that Docker's login keeps.
func (b *build) push(repository string) error {
	for _, v := range variants {
		index, err := b.index(v)
		if err != nil {
			return err
		}
		for _, tag := range b.tags(v) {
			ref, err := name.NewTag(repository + ":" + tag)
			if err != nil {
				return err
			}
			err = remote.WriteIndex(ref, index, remote.WithAuthFromKeychain(authn.DefaultKeychain))
			if err != nil {
				return fmt.Errorf("push %s: %w", ref, err)
			}
			fmt.Println("pushed", ref)
		}
	}
	return nil
}

// checkExecutable refuses an executable for another platform, or one that is not static.
func (b *build) checkExecutable(v variant, arch string) error {
	return executable.Check(b.executable(v, arch), "linux-"+arch)
}
