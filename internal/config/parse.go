package config

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/lockredis/lockredis/resp"
)

// position is a line of the configuration. Lines are counted as Redis counts them:
// through the file, standard input and the options.
type position struct {
	number int
	line   string
	depth  int // 0 for a line of the file itself, 1 in a file that it includes
}

// maxIncludes limits how deep files include one another. Redis has no limit: it
// crashes on a file that includes itself.
const maxIncludes = 100

const errIncludes = reason("too many files that include one another")

// FatalError is an error in the configuration: the server cannot start.
type FatalError struct {
	at     position // number 0: the error has no line
	Reason string
}

// Error returns the text that Redis 7.0.15 prints, of several lines.
func (e *FatalError) Error() string {
	var b strings.Builder
	b.WriteString("\n*** FATAL CONFIG FILE ERROR (Redis " + RedisVersion + ") ***\n")
	if e.at.number > 0 {
		fmt.Fprintf(&b, "Reading the configuration file, at line %d\n>>> '%s'\n",
			e.at.number, e.at.line)
	}
	b.WriteString(e.Reason)
	return b.String()
}

// FileError is a configuration file that cannot be read.
type FileError struct {
	Path string
	Err  error
}

// Error returns Redis's text.
func (e *FileError) Error() string {
	reason := e.Err.Error()
	if errors.Is(e.Err, fs.ErrNotExist) {
		reason = "No such file or directory"
	}
	return fmt.Sprintf("Fatal error, can't open config file '%s': %s", e.Path, reason)
}

// Unwrap returns the error of the file system.
func (e *FileError) Unwrap() error { return e.Err }

// Parse reads redis-server's arguments without the program's name: the path of a
// configuration file, "-" for lines on stdin, and directives as "--name value".
// The error is a *FileError when a file cannot be read, and a *FatalError
// otherwise. With the option --sentinel the Config is a Sentinel's.
func Parse(args []string, stdin io.Reader) (*Config, error) {
	return ParseProgram(Program{}, args, stdin)
}

// Program is what the program lockredis adds to its arguments.
type Program struct {
	Defaults []string // options that the arguments and the files override
	Detaches bool     // daemonize yes is not refused
}

// ParseProgram is Parse for the program. An error in the defaults counts its lines by itself.
func ParseProgram(p Program, args []string, stdin io.Reader) (*Config, error) {
	c := New()
	c.detaches = p.Detaches
	args, sentinel := asksForSentinel(args)
	if sentinel {
		c.becomeSentinel()
	}
	under, _ := c.joinOptions(p.Defaults)
	if err := c.loadText(under, 0); err != nil {
		return nil, err
	}
	var parts []string
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		path, err := filepath.Abs(args[0])
		if err != nil {
			return nil, &FileError{args[0], err}
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, &FileError{path, err}
		}
		c.File = path
		parts, args = append(parts, string(text)), args[1:]
	}
	options, fromStdin := c.joinOptions(args)
	if fromStdin {
		text, err := io.ReadAll(stdin)
		if err != nil {
			return nil, &FileError{"-", err}
		}
		parts = append(parts, string(text))
	}
	text := strings.Join(parts, "")
	if options != "" {
		text += "\n" + options
	}
	if err := c.loadText(text, 0); err != nil {
		return nil, err
	}
	if err := c.Check(); err != nil {
		return nil, err
	}
	return c, nil
}

// joinOptions returns the options as lines of a configuration file. The argument
// after an option's name is its value, even when it starts with dashes.
func (c *Config) joinOptions(args []string) (text string, fromStdin bool) {
	var b strings.Builder
	valued := true // the last option has its value
	for i, arg := range args {
		last := i == len(args)-1
		switch {
		case arg == "-" && (i == 0 || last):
			fromStdin = true
		case valued && strings.HasPrefix(arg, "--"):
			if b.Len() > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(arg[2:] + " ")
			words, _ := resp.SplitLine([]byte(arg))
			valued = len(words) != 1
			bare := last || strings.HasPrefix(args[i+1], "--")
			// "--save" without a value means "", as before Redis 7.
			if d := c.find(arg[2:]); d != nil && d.has(bareOption) && bare {
				b.WriteString(`""`)
				valued = true
			}
			valued = valued || bare && arg == "--sentinel"
		default:
			b.WriteString(quote(arg) + " ")
			valued = true
		}
	}
	return b.String(), fromStdin
}

// quote returns a word in the form that SplitLine reads back (sds.c sdscatrepr).
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '\\' || c == '"':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\r':
			b.WriteString(`\r`)
		case c == '\t':
			b.WriteString(`\t`)
		case c == '\a':
			b.WriteString(`\a`)
		case c == '\b':
			b.WriteString(`\b`)
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func (c *Config) loadText(text string, depth int) error {
	c.Sum = crc32.Update(c.Sum, crc32.IEEETable, []byte(text))
	for i, line := range strings.Split(text, "\n") {
		line = strings.Trim(line, " \t\r\n")
		if line == "" || line[0] == '#' {
			continue
		}
		at := position{i + 1, line, depth}
		split, ok := resp.SplitLine([]byte(line))
		if !ok {
			return &FatalError{at, "Unbalanced quotes in configuration line"}
		}
		if len(split) == 0 {
			continue
		}
		words := toStrings(split)
		words[0] = strings.ToLower(words[0])
		if err := c.load(words, at); err != nil {
			return located(err, at)
		}
	}
	return nil
}

func toStrings(words [][]byte) []string {
	s := make([]string, len(words))
	for i, w := range words {
		s[i] = string(w)
	}
	return s
}

// located adds the position to an error. The error of an included file has its
// own position and stays as it is.
func located(err error, at position) error {
	var file *FileError
	var fatal *FatalError
	if errors.As(err, &file) || errors.As(err, &fatal) {
		return err
	}
	return &FatalError{at, err.Error()}
}

// include reads another file, or all files that match a pattern, in order.
func (c *Config) include(words []string, at position) error {
	depth := at.depth + 1
	if depth > maxIncludes {
		return errIncludes
	}
	paths := words[1:]
	if strings.ContainsAny(paths[0], "*?[") {
		var err error
		if paths, err = filepath.Glob(c.Path(paths[0])); err != nil {
			return err
		}
	}
	for _, path := range paths {
		text, err := os.ReadFile(c.Path(path))
		if err != nil {
			return &FileError{path, err}
		}
		err = c.loadText(string(text), depth)
		c.included = true
		if err != nil {
			return err
		}
	}
	return nil
}
