package wire

import (
	"errors"
	"strconv"
)

// ErrQuotes is the error of Split for a line whose quotes do not close, or close in the
// middle of a word.
var ErrQuotes = errors.New("wire: unbalanced quotes")

// Split divides a line into words as redis-cli does. Blanks separate words. "Double
// quotes" know \n \r \t \a \b \xNN and \ before any other byte. 'Single quotes' know only
// \'. An empty line has no words.
func Split(line string) ([]string, error) {
	var words []string
	for i := 0; ; {
		for i < len(line) && isBlank(line[i]) {
			i++
		}
		if i == len(line) {
			return words, nil
		}
		word, end, err := splitWord(line, i)
		if err != nil {
			return nil, err
		}
		words = append(words, word)
		i = end
	}
}

func splitWord(line string, i int) (word string, end int, err error) {
	var b []byte
	for i < len(line) && !isBlank(line[i]) {
		if q := line[i]; q == '"' || q == '\'' {
			b, i, err = splitQuoted(b, line, i+1, q)
			if err != nil {
				return "", 0, err
			}
			if i < len(line) && !isBlank(line[i]) {
				return "", 0, ErrQuotes
			}
			continue
		}
		b = append(b, line[i])
		i++
	}
	return string(b), i, nil
}

// splitQuoted appends the text before the closing quote q to b and returns the index
// after the quote.
func splitQuoted(b []byte, line string, i int, q byte) ([]byte, int, error) {
	for i < len(line) {
		switch {
		case line[i] == q:
			return b, i + 1, nil
		case line[i] == '\\' && q == '"' && i+1 < len(line):
			var c byte
			c, i = unescape(line, i+1)
			b = append(b, c)
		case line[i] == '\\' && q == '\'' && i+1 < len(line) && line[i+1] == '\'':
			b = append(b, '\'')
			i += 2
		default:
			b = append(b, line[i])
			i++
		}
	}
	return nil, 0, ErrQuotes
}

// unescape reads the escape whose letter is at index i.
func unescape(line string, i int) (c byte, end int) {
	switch line[i] {
	case 'n':
		return '\n', i + 1
	case 'r':
		return '\r', i + 1
	case 't':
		return '\t', i + 1
	case 'a':
		return '\a', i + 1
	case 'b':
		return '\b', i + 1
	case 'x':
		if i+2 < len(line) {
			if n, err := strconv.ParseUint(line[i+1:i+3], 16, 8); err == nil {
				return byte(n), i + 3
			}
		}
	}
	return line[i], i + 1
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
