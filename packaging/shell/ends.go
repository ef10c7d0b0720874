package shell

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// end says which end of a file head or tail prints.
type end struct {
	count int
	bytes bool // count is in bytes, not in lines
	rest  bool // all but count: head -n -5; tail -n +6 leaves out five lines, too
}

// head prints the beginning of files. It reads no more than it prints: the input may have
// no end.
func head(c *call) int {
	return c.ends("-", func(in *bufio.Reader, e end) error {
		if !e.rest {
			return e.copy(c.out, in)
		}
		text, err := io.ReadAll(in)
		c.out.Write(text[:e.before(text)])
		return err
	})
}

// tail prints the end of files. It does not follow them.
func tail(c *call) int {
	return c.ends("+", func(in *bufio.Reader, e end) error {
		if e.rest {
			e.count = max(0, e.count-1)
			if err := e.copy(io.Discard, in); err != nil {
				return err
			}
			_, err := in.WriteTo(c.out)
			return err
		}
		text, err := io.ReadAll(in)
		c.out.Write(text[e.before(text):])
		return err
	})
}

// copy copies the first count lines or bytes.
func (e end) copy(out io.Writer, in *bufio.Reader) error {
	if e.bytes {
		_, err := io.CopyN(out, in, int64(e.count))
		return ignoreEOF(err)
	}
	for range e.count {
		line, err := in.ReadString('\n')
		io.WriteString(out, line)
		if err != nil {
			return ignoreEOF(err)
		}
	}
	return nil
}

// before returns the position of the last count lines or bytes of a text.
func (e end) before(text []byte) int {
	if e.bytes {
		return max(0, len(text)-e.count)
	}
	at := len(text)
	for range e.count {
		if at == 0 {
			break
		}
		at = bytes.LastIndexByte(text[:at-1], '\n') + 1
	}
	return at
}

// ends runs head or tail. sign is the sign of a count that means the rest.
func (c *call) ends(sign string, print func(in *bufio.Reader, e end) error) int {
	given, values, names, err := c.optionsAnywhere("qv", "nc")
	e := end{count: 10}
	number := values['n']
	if given['c'] {
		e.bytes, number = true, values['c']
	}
	if err == nil && number != "" {
		if number, e.rest = strings.CutPrefix(number, sign); !e.rest {
			number = strings.TrimLeft(number, "+-")
		}
		if e.count, err = strconv.Atoi(number); err == nil && e.count < 0 {
			err = fmt.Errorf("invalid number %s", number)
		}
	}
	if err != nil {
		return c.fail(1, err)
	}
	titled := given['v'] || len(names) > 1 && !given['q']
	separator := ""
	return c.input(names, 1, func(name string, in io.Reader) error {
		if titled {
			if name == "-" {
				name = "standard input"
			}
			fmt.Fprintf(c.out, "%s==> %s <==\n", separator, name)
			separator = "\n"
		}
		return print(bufio.NewReader(in), e)
	})
}
