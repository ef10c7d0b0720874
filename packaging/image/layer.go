package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/lockredis/lockredis/packaging/shell"
)

// file is an entry of the image's file system. A name that ends in "/" is a directory.
type file struct {
	name string
	mode int64
	text []byte
	link string // a symbolic link's target; "": no link
	user int    // owner and group
}

// program is where the executable is in the image.
const program = "usr/local/bin/lockredis"

// names are the programs that the executable is by its name.
var names = []string{"docker-entrypoint.sh", "redis-cli", "redis-sentinel", "redis-server"}

// notices are the texts of licences, by path in the repository.
var notices = []string{"LICENSE", "THIRD_PARTY_NOTICES", "packaging/THIRD_PARTY_NOTICES"}

// hosts is for a runtime that makes no file of its own.
const hosts = "127.0.0.1 localhost\n::1 localhost\n"

const passwd = "root:x:0:0:root:/:/bin/sh\nredis:x:999:999:redis:/data:/bin/sh\n" +
	"nobody:x:65534:65534:nobody:/:/bin/false\n"

const group = "root:x:0:\nredis:x:999:\nnogroup:x:65534:\n"

// files returns the file system of an image.
func (b *build) files(v variant, arch string) ([]file, error) {
	text, err := os.ReadFile(b.executable(v, arch))
	if err != nil {
		return nil, err
	}
	files := []file{
		{name: "data/", mode: 0o755, user: userID},
		{name: "etc/group", mode: 0o644, text: []byte(group)},
		{name: "etc/hosts", mode: 0o644, text: []byte(hosts)},
		{name: "etc/passwd", mode: 0o644, text: []byte(passwd)},
		{name: "tmp/", mode: 0o1777},
		{name: "usr/local/etc/redis/", mode: 0o755},
		{name: program, mode: 0o755, text: text},
	}
	// A container's runtime mounts these, also on a read-only file system.
	for _, name := range []string{"dev/", "proc/", "sys/"} {
		files = append(files, file{name: name, mode: 0o755})
	}
	for _, name := range names {
		files = append(files, file{name: "usr/local/bin/" + name, link: "lockredis"})
	}
	if v.shell {
		for _, name := range shell.Names() {
			files = append(files, file{name: "bin/" + name, link: "/" + program})
		}
		files = append(files, file{name: "usr/bin/env", link: "/" + program})
	}
	for _, name := range notices {
		text, err := os.ReadFile(filepath.Join(b.root, name))
		if err != nil {
			return nil, err
		}
		name = "usr/share/doc/lockredis/" + strings.ReplaceAll(name, "/", "-")
		files = append(files, file{name: name, mode: 0o644, text: text})
	}
	return withParents(files), nil
}

// withParents adds the directories that files are in, and sorts by name, so that a
// directory comes before its files.
func withParents(files []file) []file {
	known := map[string]bool{}
	for _, f := range files {
		known[f.name] = true
	}
	for _, f := range slices.Clone(files) {
		for dir := path.Dir(strings.TrimSuffix(f.name, "/")); dir != "."; dir = path.Dir(dir) {
			if !known[dir+"/"] {
				known[dir+"/"] = true
				files = append(files, file{name: dir + "/", mode: 0o755})
			}
		}
	}
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	return files
}

// pack returns the files as a layer. All of them have the same time. The layer keeps its
// compressed bytes: it is written several times.
func pack(files []file, at time.Time) (v1.Layer, error) {
	var out bytes.Buffer
	compressor, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	archive := tar.NewWriter(compressor)
	for _, f := range files {
		header := &tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: f.mode, Uid: f.user,
			Gid: f.user, Size: int64(len(f.text)), ModTime: at, Format: tar.FormatUSTAR}
		switch {
		case f.link != "":
			header.Typeflag, header.Linkname, header.Mode = tar.TypeSymlink, f.link, 0o777
		case strings.HasSuffix(f.name, "/"):
			header.Typeflag = tar.TypeDir
		}
		err := archive.WriteHeader(header)
		if err == nil {
			_, err = archive.Write(f.text)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := errors.Join(archive.Close(), compressor.Close()); err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(
		func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(out.Bytes())), nil },
		tarball.WithMediaType(types.OCILayer))
}
