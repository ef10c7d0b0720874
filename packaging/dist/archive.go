package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
)

// entry is a file of an archive.
type entry struct {
	name string
	mode int64
	text []byte
}

// archive writes the archive of a platform: a zip for Windows, else a tar.gz.
func (r *release) archive(platform string) error {
	folder := "lockredis-" + r.version + "-" + platform
	text, err := os.ReadFile(r.executable(platform))
	if err != nil {
		return err
	}
	entries := []entry{{folder + "/" + nameOn(platform), 0o755, text}}
	for _, name := range documents {
		text, err := os.ReadFile(filepath.Join(r.root, name))
		if err != nil {
			return err
		}
		entries = append(entries, entry{folder + "/" + name, 0o644, text})
	}
	pack, ending := r.tarball, ".tar.gz"
	if strings.HasPrefix(platform, "windows-") {
		pack, ending = r.zip, ".zip"
	}
	packed, err := pack(folder, entries)
	if err != nil {
		return err
	}
	return r.save(folder+ending, packed)
}

// tarball returns a tar.gz of folder and its files.
func (r *release) tarball(folder string, entries []entry) ([]byte, error) {
	var out bytes.Buffer
	compressor, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	archive := tar.NewWriter(compressor)
	err = archive.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: folder + "/", Mode: 0o755,
		ModTime: r.time, Format: tar.FormatUSTAR})
	for _, e := range entries {
		if err != nil {
			return nil, err
		}
		err = archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: e.name, Mode: e.mode,
			Size: int64(len(e.text)), ModTime: r.time, Format: tar.FormatUSTAR})
		if err == nil {
			_, err = archive.Write(e.text)
		}
	}
	if err == nil {
		err = archive.Close()
	}
	if err == nil {
		err = compressor.Close()
	}
	return out.Bytes(), err
}

// zip returns a zip of the files. It has no entry for the folder: none is needed.
func (r *release) zip(_ string, entries []entry) ([]byte, error) {
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for _, e := range entries {
		header := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: r.time}
		header.SetMode(os.FileMode(e.mode))
		w, err := archive.CreateHeader(header)
		if err == nil {
			_, err = w.Write(e.text)
		}
		if err != nil {
			return nil, err
		}
	}
	err := archive.Close()
	return out.Bytes(), err
}
