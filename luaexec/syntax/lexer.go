package syntax

import (
	"strings"

	"github.com/lockredis/lockredis/luaexec/lualib"
)

const eof = -1

// lexer turns source text into tokens. It panics with *Error for an error; Parse
// recovers.
type lexer struct {
	name string
	src  string
	pos  int
	line int
}

// peek returns the current byte, or eof.
func (lx *lexer) peek() int {
	if lx.pos < len(lx.src) {
		return int(lx.src[lx.pos])
	}
	return eof
}

// peekAt returns the byte n bytes further on, or eof.
func (lx *lexer) peekAt(n int) int {
	if lx.pos+n < len(lx.src) {
		return int(lx.src[lx.pos+n])
	}
	return eof
}

// fail panics with an error at the current line. near is the text of a token, or "".
func (lx *lexer) fail(msg, near string) {
	if near != "" {
		msg += " near '" + near + "'"
	}
	panic(Errorf(lx.name, lx.line, "%s", msg))
}

// newline skips a line break of one or two characters.
func (lx *lexer) newline() {
	first := lx.peek()
	lx.pos++
	if c := lx.peek(); (c == '\n' || c == '\r') && c != first {
		lx.pos++
	}
	lx.line++
}

// next returns the next token.
func (lx *lexer) next() token {
	for {
		switch c := lx.peek(); {
		case c == eof:
			return token{kind: tEOF}
		case c == '\n' || c == '\r':
			lx.newline()
		case isSpace(c):
			lx.pos++
		case c == '-' && lx.peekAt(1) == '-':
			lx.pos += 2
			lx.comment()
		case c == '[' && lx.longBracket() >= 0:
			equals := strings.Repeat("=", lx.longBracket())
			text := lx.long("string")
			raw := lualib.CText("[" + equals + "[" + text + "]" + equals + "]")
			return token{kind: tString, text: text, raw: raw}
		case c == '[' && lx.peekAt(1) == '=':
			lx.badDelimiter()
		case c == '"' || c == '\'':
			return lx.quoted(c)
		case isDigit(c) || c == '.' && isDigit(lx.peekAt(1)):
			return lx.number()
		case isLetter(c):
			return lx.word()
		default:
			return lx.symbol(c)
		}
	}
}

// among reports whether c is one of the set's bytes, or NUL: C Lua searches with
// strchr, which also finds the NUL at the end of the set.
func among(c int, set string) bool {
	return c == 0 || c > 0 && strings.IndexByte(set, byte(c)) >= 0
}

// symbol reads an operator or a single character.
func (lx *lexer) symbol(c int) token {
	two := lx.peekAt(1)
	kind, size := c, 1
	switch {
	case c == '.' && among(two, ".") && among(lx.peekAt(2), "."):
		kind, size = tDots, 3
	case c == '.' && among(two, "."):
		kind, size = tConcat, 2
	case two != '=':
	case c == '=':
		kind, size = tEq, 2
	case c == '<':
		kind, size = tLe, 2
	case c == '>':
		kind, size = tGe, 2
	case c == '~':
		kind, size = tNe, 2
	}
	lx.pos += size
	return token{kind: kind}
}

// word reads a name or a reserved word.
func (lx *lexer) word() token {
	start := lx.pos
	for isLetter(lx.peek()) || isDigit(lx.peek()) {
		lx.pos++
	}
	text := lx.src[start:lx.pos]
	if kind, ok := reserved[text]; ok {
		return token{kind: kind}
	}
	return token{kind: tName, text: text, raw: text}
}

// number reads all characters that may belong to a number, and then converts them, as C
// Lua does.
func (lx *lexer) number() token {
	start := lx.pos
	for isDigit(lx.peek()) || lx.peek() == '.' {
		lx.pos++
	}
	if among(lx.peek(), "eE") {
		lx.pos++
		if among(lx.peek(), "+-") {
			lx.pos++
		}
	}
	for isLetter(lx.peek()) || isDigit(lx.peek()) {
		lx.pos++
	}
	raw := lualib.CText(lx.src[start:lx.pos])
	n, ok := lualib.ParseNumber(raw)
	if !ok {
		lx.fail("malformed number", raw)
	}
	return token{kind: tNumber, raw: raw, num: n}
}

// comment skips the text after two dashes.
func (lx *lexer) comment() {
	if lx.longBracket() >= 0 {
		lx.long("comment")
		return
	}
	for c := lx.peek(); c != eof && c != '\n' && c != '\r'; c = lx.peek() {
		lx.pos++
	}
}

// longBracket returns the level of the long bracket that opens here, or -1 if there is
// none.
func (lx *lexer) longBracket() int {
	if lx.peek() != '[' {
		return -1
	}
	level := 0
	for lx.peekAt(1+level) == '=' {
		level++
	}
	if lx.peekAt(1+level) != '[' {
		return -1
	}
	return level
}

// badDelimiter fails for "[=" that does not open a long bracket.
func (lx *lexer) badDelimiter() {
	start := lx.pos
	lx.pos++
	for lx.peek() == '=' {
		lx.pos++
	}
	lx.fail("invalid long string delimiter", lx.src[start:lx.pos])
}

// long reads a long string or comment and returns its text. what is its name in errors.
func (lx *lexer) long(what string) string {
	level := lx.longBracket()
	closing := "]" + strings.Repeat("=", level) + "]"
	lx.pos += level + 2
	if c := lx.peek(); c == '\n' || c == '\r' {
		lx.newline()
	}
	var text strings.Builder
	for {
		switch c := lx.peek(); {
		case c == eof:
			lx.fail("unfinished long "+what, kindText(tEOF))
		case c == ']' && strings.HasPrefix(lx.src[lx.pos:], closing):
			lx.pos += len(closing)
			return text.String()
		case c == '\n' || c == '\r':
			lx.newline()
			text.WriteByte('\n')
		default:
			text.WriteByte(byte(c))
			lx.pos++
		}
	}
}

// quoted reads a string in single or double quotes.
func (lx *lexer) quoted(quote int) token {
	lx.pos++
	var text strings.Builder
	for {
		switch c := lx.peek(); c {
		case eof:
			lx.fail("unfinished string", kindText(tEOF))
		case '\n', '\r':
			lx.fail("unfinished string", lualib.CText(string(byte(quote))+text.String()))
		case '\\':
			lx.pos++
			lx.escape(&text, quote)
		case quote:
			lx.pos++
			q := string(byte(quote))
			return token{kind: tString, text: text.String(), raw: lualib.CText(q + text.String() + q)}
		default:
			text.WriteByte(byte(c))
			lx.pos++
		}
	}
}

// escapes are the letters of simple escapes, escaped their values.
const escapes, escaped = `abfnrtv`, "\a\b\f\n\r\t\v"

// escape reads an escape, after its backslash, and appends its value.
func (lx *lexer) escape(text *strings.Builder, quote int) {
	c := lx.peek()
	switch i := strings.IndexByte(escapes, byte(c)); {
	case c == eof:
	case i >= 0:
		text.WriteByte(escaped[i])
		lx.pos++
	case c == '\n' || c == '\r':
		lx.newline()
		text.WriteByte('\n')
	case isDigit(c):
		n := 0
		for i := 0; i < 3 && isDigit(lx.peek()); i++ {
			n = n*10 + lx.peek() - '0'
			lx.pos++
		}
		if n > 255 {
			lx.fail("escape sequence too large", lualib.CText(string(byte(quote))+text.String()))
		}
		text.WriteByte(byte(n))
	default:
		text.WriteByte(byte(c))
		lx.pos++
	}
}

func isSpace(c int) bool  { return c == ' ' || c >= '\t' && c <= '\r' }
func isDigit(c int) bool  { return c >= '0' && c <= '9' }
func isLetter(c int) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' }
