package shell

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// grep prints the lines of files that match a pattern. It takes basic expressions, with
// -E extended ones, with -F texts. The status is 1 when no line matches.
func grep(c *call) int {
	given, values, operands, err := c.optionsAnywhere("EFHchilnoqsvwx", "em")
	pattern := values['e']
	if err == nil && !given['e'] {
		if len(operands) == 0 {
			err = errors.New("no pattern")
		} else {
			pattern, operands = operands[0], operands[1:]
		}
	}
	if err != nil {
		return c.fail(2, err)
	}
	expression, err := compile(pattern, given)
	if err != nil {
		return c.fail(2, err)
	}
	limit := -1
	if given['m'] {
		if limit, err = strconv.Atoi(values['m']); err != nil {
			return c.fail(2, err)
		}
	}
	s := &search{call: c, given: given, expression: expression, limit: limit,
		named: given['H'] || len(operands) > 1 && !given['h']}
	errorsTo := c.err
	if given['s'] {
		c.err = io.Discard
	}
	failed := c.input(operands, 2, s.file)
	c.err = errorsTo
	switch {
	case s.found && (given['q'] || failed == 0):
		return 0
	case failed != 0:
		return failed
	}
	return 1
}

// compile returns a pattern of grep as a regular expression of Go.
func compile(pattern string, given map[byte]bool) (*regexp.Regexp, error) {
	var parts []string
	for part := range strings.SplitSeq(pattern, "\n") {
		switch {
		case given['F']:
			part = regexp.QuoteMeta(part)
		case !given['E']:
			part = fromBasic(part)
		}
		parts = append(parts, part)
	}
	text := "(?:" + strings.Join(parts, "|") + ")"
	switch {
	case given['x']:
		text = "^" + text + "$"
	case given['w']:
		text = `\b` + text + `\b`
	}
	if given['i'] {
		text = "(?i)" + text
	}
	return regexp.Compile(text)
}

// fromBasic returns a basic expression as an extended one: \( \) \{ \} \| \+ \? are
// operators, the same characters alone are not.
func fromBasic(basic string) string {
	var b strings.Builder
	for i := 0; i < len(basic); i++ {
		switch char := basic[i]; {
		case char == '\\' && i+1 < len(basic):
			i++
			if strings.IndexByte("(){}|+?", basic[i]) < 0 {
				b.WriteByte('\\')
			}
			b.WriteByte(basic[i])
		case char == '[':
			end := i + 1
			for end < len(basic) && (basic[end] == '^' && end == i+1 || basic[end] == ']' &&
				(end == i+1 || end == i+2 && basic[i+1] == '^')) {
				end++
			}
			for end < len(basic) && basic[end] != ']' {
				if basic[end] == '[' && end+1 < len(basic) && basic[end+1] == ':' {
					if close := strings.Index(basic[end:], ":]"); close > 0 {
						end += close + 1
					}
				}
				end++
			}
			b.WriteString(basic[i:min(end+1, len(basic))])
			i = end
		case strings.IndexByte("(){}|+?", char) >= 0:
			b.WriteByte('\\')
			b.WriteByte(char)
		case char == '*' && (i == 0 || i == 1 && basic[0] == '^'):
			b.WriteString(`\*`)
		default:
			b.WriteByte(char)
		}
	}
	return b.String()
}

// search is one run of grep.
type search struct {
	*call
	given      map[byte]bool
	expression *regexp.Regexp
	limit      int // matching lines of a file to look for; negative: all
	named      bool
	found      bool
}

// file searches one file.
func (s *search) file(name string, in io.Reader) error {
	label := ""
	if s.named {
		label = name + ":"
	}
	count, number := 0, 0
	for lines := bufio.NewReader(in); count != s.limit; {
		line, err := lines.ReadString('\n')
		if err != nil && (err != io.EOF || line == "") {
			if err == io.EOF {
				break
			}
			return err
		}
		number++
		line = strings.TrimSuffix(line, "\n")
		if s.expression.MatchString(line) == s.given['v'] {
			continue
		}
		s.found = true
		count++
		if s.given['q'] || s.given['l'] {
			break
		}
		s.line(label, line, number)
	}
	switch {
	case s.given['q']:
	case s.given['l'] && count > 0:
		fmt.Fprintln(s.out, name)
	case s.given['c'] && !s.given['l']:
		fmt.Fprintf(s.out, "%s%d\n", label, count)
	}
	return nil
}

// line prints a line that matches.
func (s *search) line(label, line string, number int) {
	if s.given['c'] {
		return
	}
	if s.given['n'] {
		label += strconv.Itoa(number) + ":"
	}
	if !s.given['o'] {
		fmt.Fprintf(s.out, "%s%s\n", label, line)
		return
	}
	for _, match := range s.expression.FindAllString(line, -1) {
		fmt.Fprintf(s.out, "%s%s\n", label, match)
	}
}

func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// wc prints the numbers of lines, words and bytes.
func wc(c *call) int {
	given, _, names, err := c.optionsAnywhere("lwc", "")
	if err != nil {
		return c.fail(2, err)
	}
	all := len(given) == 0
	return c.input(names, 1, func(name string, in io.Reader) error {
		text, err := io.ReadAll(in)
		if err != nil {
			return err
		}
		var fields []string
		for _, n := range []struct {
			letter byte
			count  int
		}{
			{'l', strings.Count(string(text), "\n")},
			{'w', len(strings.Fields(string(text)))},
			{'c', len(text)},
		} {
			if all || given[n.letter] {
				fields = append(fields, strconv.Itoa(n.count))
			}
		}
		if name != "-" {
			fields = append(fields, name)
		}
		fmt.Fprintln(c.out, strings.Join(fields, " "))
		return nil
	})
}
