package shell

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

var errOperands = errors.New("missing operand")

// each calls do with every operand, and reports the errors. It is the form of most tools.
func (c *call) each(
	letters, valued string,
	do func(given map[byte]bool, values map[byte]string, name string) error,
) int {
	given, values, names, err := c.options(letters, valued)
	if err == nil && len(names) == 0 {
		err = errOperands
	}
	if err != nil {
		return c.fail(2, err)
	}
	status := 0
	for _, name := range names {
		if err := do(given, values, name); err != nil {
			status = c.fail(1, err)
		}
	}
	return status
}

func cat(c *call) int {
	_, _, names, err := c.options("u", "")
	if err != nil {
		return c.fail(2, err)
	}
	return c.input(names, 1, func(_ string, in io.Reader) error {
		_, err := io.Copy(c.out, in)
		return err
	})
}

// chmod takes octal modes, and +x, +r, +w for all users.
func chmod(c *call) int {
	if len(c.args) < 3 {
		return c.fail(2, errOperands)
	}
	mode := c.args[1]
	add := map[string]fs.FileMode{"+x": 0o111, "a+x": 0o111, "u+x": 0o100, "+r": 0o444,
		"+w": 0o222}[mode]
	octal, err := strconv.ParseUint(mode, 8, 12)
	if err != nil && add == 0 {
		return c.fail(2, fmt.Errorf("unknown mode %q", mode))
	}
	status := 0
	for _, name := range c.args[2:] {
		set := fs.FileMode(octal & 0o777)
		info, err := os.Stat(name)
		if err == nil && add != 0 {
			set = info.Mode().Perm() | add
		}
		if err == nil {
			err = os.Chmod(name, set)
		}
		if err != nil {
			status = c.fail(1, err)
		}
	}
	return status
}

// cp copies files to a file or into a directory, with -r also directories.
func cp(c *call) int {
	return c.transfer("aprRf", func(given map[byte]bool, from, to string) error {
		info, err := os.Stat(from)
		if err != nil {
			return err
		}
		if info.IsDir() {
			if !given['r'] && !given['R'] && !given['a'] {
				return fmt.Errorf("%s is a directory: use -r", from)
			}
			return os.CopyFS(to, os.DirFS(from))
		}
		return copyFile(from, to, info.Mode().Perm())
	})
}

func copyFile(from, to string, mode fs.FileMode) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	if closed := target.Close(); err == nil {
		err = closed
	}
	return err
}

func mv(c *call) int {
	return c.transfer("f", func(_ map[byte]bool, from, to string) error {
		err := os.Rename(from, to)
		if err == nil {
			return nil
		}
		info, statErr := os.Stat(from)
		if statErr != nil || info.IsDir() {
			return err
		}
		if err := copyFile(from, to, info.Mode().Perm()); err != nil { // another file system
			return err
		}
		return os.Remove(from)
	})
}

// transfer calls do for each operand but the last one, which is a file or a directory.
func (c *call) transfer(letters string, do func(given map[byte]bool, from, to string) error) int {
	given, _, names, err := c.options(letters, "")
	if err == nil && len(names) < 2 {
		err = errOperands
	}
	if err != nil {
		return c.fail(2, err)
	}
	target := names[len(names)-1]
	info, err := os.Stat(target)
	directory := err == nil && info.IsDir()
	if len(names) > 2 && !directory {
		return c.fail(1, fmt.Errorf("%s is no directory", target))
	}
	status := 0
	for _, from := range names[:len(names)-1] {
		to := target
		if directory {
			to = filepath.Join(target, filepath.Base(from))
		}
		if err := do(given, from, to); err != nil {
			status = c.fail(1, err)
		}
	}
	return status
}

// ls prints names one a line, with -l also mode, owner, size and time.
func ls(c *call) int {
	given, _, names, err := c.options("1ahlA", "")
	if err != nil {
		return c.fail(2, err)
	}
	if len(names) == 0 {
		names = []string{"."}
	}
	status := 0
	for _, name := range names {
		if err := c.listDir(name, len(names) > 1, given); err != nil {
			status = c.fail(1, err)
		}
	}
	return status
}

func (c *call) listDir(name string, titled bool, given map[byte]bool) error {
	info, err := os.Lstat(name)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		c.listFile(info, name, given['l'])
		return nil
	}
	entries, err := os.ReadDir(name)
	if err != nil {
		return err
	}
	if titled {
		fmt.Fprintf(c.out, "%s:\n", name)
	}
	for _, entry := range entries {
		if entry.Name()[0] == '.' && !given['a'] && !given['A'] {
			continue
		}
		if info, err := entry.Info(); err == nil {
			c.listFile(info, entry.Name(), given['l'])
		}
	}
	return nil
}

func (c *call) listFile(info fs.FileInfo, name string, long bool) {
	if long {
		fmt.Fprintf(c.out, "%s %s %8d %s ", info.Mode(), owner(info), info.Size(),
			info.ModTime().Format("2006-01-02 15:04"))
	}
	fmt.Fprintln(c.out, name)
}

func mkdir(c *call) int {
	return c.each("p", "m", func(given map[byte]bool, values map[byte]string, name string) error {
		mode := uint64(0o777)
		if given['m'] {
			var err error
			if mode, err = strconv.ParseUint(values['m'], 8, 12); err != nil {
				return fmt.Errorf("unknown mode %q", values['m'])
			}
		}
		if given['p'] {
			return os.MkdirAll(name, fs.FileMode(mode))
		}
		return os.Mkdir(name, fs.FileMode(mode))
	})
}

func rm(c *call) int {
	return c.each("rRf", "", func(given map[byte]bool, _ map[byte]string, name string) error {
		if given['r'] || given['R'] {
			return os.RemoveAll(name)
		}
		err := os.Remove(name)
		if given['f'] && errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
}

func touch(c *call) int {
	return c.each("c", "", func(given map[byte]bool, _ map[byte]string, name string) error {
		now := time.Now()
		err := os.Chtimes(name, now, now)
		if !errors.Is(err, fs.ErrNotExist) || given['c'] {
			return err
		}
		file, err := os.Create(name)
		if err != nil {
			return err
		}
		return file.Close()
	})
}
