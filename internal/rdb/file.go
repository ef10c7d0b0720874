package rdb

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// File is a file that is being written. It replaces an older file of the same name in one
// step, when it is complete and on the disk. Until then it has another name, so a crash
// leaves the older file as it was.
type File struct {
	f        *os.File
	path     string
	checksum bool
	sum      uint64
	err      error // of the first write that failed
}

// RemoveLeftovers removes the files in dir that were not complete when an earlier process
// with this process's id ended. In a container each start may have the same id. It must be
// called before any server of the process saves.
func RemoveLeftovers(dir string) {
	for i := range tries {
		os.Remove(filepath.Join(dir, temporaryName(i)))
	}
}

// tries is how many names Create tries for the file that is not complete yet.
const tries = 100

// temporaryName returns the i-th of the names.
func temporaryName(i int) string { return fmt.Sprintf("temp-%d-%d.rdb", os.Getpid(), i) }

// Create begins a file. Without checksum the file ends with zeros in the checksum's place.
func Create(path string, checksum bool) (*File, error) {
	for i := range tries {
		f, err := os.OpenFile(filepath.Join(filepath.Dir(path), temporaryName(i)),
			os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err == nil {
			return &File{f: f, path: path, checksum: checksum}, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
	return nil, fmt.Errorf("create %s: %d temporary files are there already", path, tries)
}

// Write appends p. After an error it does nothing, and Commit returns the error.
func (w *File) Write(p []byte) {
	if w.err != nil {
		return
	}
	if w.checksum {
		w.sum = checksum(w.sum, p)
	}
	_, w.err = w.f.Write(p)
}

// Err returns the error of the first Write that failed.
func (w *File) Err() error { return w.err }

// Commit ends the file, waits until it is on the disk, and gives it its name. After an
// error the older file is as it was.
func (w *File) Commit() error {
	if err := w.Finish(); err != nil {
		return err
	}
	if err := w.Name(); err != nil {
		return err
	}
	w.SyncName()
	return nil
}

// Finish ends the file and waits until it is on the disk. The file has its name after Name,
// and after Abort it is gone. After an error Abort has been called.
func (w *File) Finish() error {
	w.Write([]byte{recordEnd})
	w.Write(binary.LittleEndian.AppendUint64(nil, w.sum))
	if w.err == nil {
		w.err = w.f.Sync()
	}
	if err := w.f.Close(); w.err == nil {
		w.err = err
	}
	if w.err != nil {
		w.Abort()
	}
	return w.err
}

// Name gives the finished file its name, and so replaces the older file. After an error the
// older file is as it was.
func (w *File) Name() error {
	err := os.Rename(w.f.Name(), w.path)
	if err != nil {
		w.Abort()
	}
	return err
}

// SyncName waits until the name is on the disk. Some systems cannot do that for a directory.
// The file is complete in any case.
func (w *File) SyncName() {
	if dir, err := os.Open(filepath.Dir(w.path)); err == nil {
		_ = dir.Sync()
		dir.Close()
	}
}

// Abort removes the file that is not complete.
func (w *File) Abort() {
	w.f.Close()
	os.Remove(w.f.Name())
}
