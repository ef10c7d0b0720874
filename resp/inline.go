package resp

import "bytes"

// nextInline returns a command that was sent as one line (telnet, nc). It returns
// an empty command for an empty line.
func (r *Reader) nextInline() (Args, bool, error) {
	unread := r.buf[r.start:r.end]
	i := bytes.IndexByte(unread, '\n')
	if i >= 0 && bytes.IndexByte(unread[:i], 0) >= 0 {
		i = -1
	}
	if i < 0 {
		if len(unread) > maxInline {
			return nil, false, &ProtocolError{"too big inline request"}
		}
		return nil, false, nil
	}
	line := unread[:i]
	if i > 0 && line[i-1] == '\r' {
		line = line[:i-1]
	}
	args, ok := SplitLine(line)
	if !ok {
		return nil, false, &ProtocolError{"unbalanced quotes in request"}
	}
	r.start += i + 1
	r.pos = r.start
	return args, true, nil
}

// SplitLine splits a line into words by the rules of inline commands, redis-cli
// and redis.conf (sds.c, sdssplitargs). Double quotes may contain the escapes \n
// \r \t \b \a and \xHH, single quotes the escape \'. ok is false if quotes are
// unbalanced or a closing quote is not followed by a space character. The words
// are copies. A NUL byte ends the line.
func SplitLine(line []byte) (words [][]byte, ok bool) {
	if i := bytes.IndexByte(line, 0); i >= 0 {
		line = line[:i]
	}
	for {
		for len(line) > 0 && isSpace(line[0]) {
			line = line[1:]
		}
		if len(line) == 0 {
			return words, true
		}
		word, rest, ok := splitWord(line)
		if !ok {
			return nil, false
		}
		words, line = append(words, word), rest
	}
}

// splitWord splits off the first word. A word may contain quotes, and the space
// characters \v and \f, which do not end a word. A closing quote ends it.
func splitWord(line []byte) (word, rest []byte, ok bool) {
	word = []byte{}
	for len(line) > 0 {
		switch c := line[0]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			return word, line[1:], true
		case c == '"' || c == '\'':
			var quoted []byte
			quoted, line, ok = splitQuoted(line[1:], c)
			if !ok || len(line) > 0 && !isSpace(line[0]) {
				return nil, nil, false
			}
			return append(word, quoted...), line, true
		default:
			word, line = append(word, c), line[1:]
		}
	}
	return word, nil, true
}

// splitQuoted reads a quoted text up to and including its closing quote. line
// begins after the opening quote.
func splitQuoted(line []byte, quote byte) (text, rest []byte, ok bool) {
	for len(line) > 0 {
		c := line[0]
		switch {
		case c == quote:
			return text, line[1:], true
		case c == '\\' && quote == '\'' && len(line) > 1 && line[1] == '\'':
			text, line = append(text, '\''), line[2:]
		case quote == '"' && isHexEscape(line):
			text, line = append(text, unhex(line[2])<<4|unhex(line[3])), line[4:]
		case c == '\\' && quote == '"' && len(line) > 1:
			text, line = append(text, unescape(line[1])), line[2:]
		default:
			text, line = append(text, c), line[1:]
		}
	}
	return nil, nil, false
}

// isHexEscape reports whether line begins with an escape \xHH.
func isHexEscape(line []byte) bool {
	return len(line) > 3 && line[0] == '\\' && line[1] == 'x' && isHex(line[2]) && isHex(line[3])
}

// unescape returns the byte that a backslash before c means in double quotes.
func unescape(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'b':
		return '\b'
	case 'a':
		return '\a'
	}
	return c
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func unhex(c byte) byte {
	switch {
	case c <= '9':
		return c - '0'
	case c <= 'F':
		return c - 'A' + 10
	}
	return c - 'a' + 10
}
