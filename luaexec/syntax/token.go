package syntax

import (
	"fmt"
	"strconv"
)

// token kinds above the single characters.
const (
	tEOF = iota + 256
	tAnd
	tBreak
	tDo
	tElse
	tElseif
	tEnd
	tFalse
	tFor
	tFunction
	tIf
	tIn
	tLocal
	tNil
	tNot
	tOr
	tRepeat
	tReturn
	tThen
	tTrue
	tUntil
	tWhile
	tConcat
	tDots
	tEq
	tGe
	tLe
	tNe
	tNumber
	tName
	tString
)

var reserved = map[string]int{
	"and": tAnd, "break": tBreak, "do": tDo, "else": tElse, "elseif": tElseif,
	"end": tEnd, "false": tFalse, "for": tFor, "function": tFunction, "if": tIf,
	"in": tIn, "local": tLocal, "nil": tNil, "not": tNot, "or": tOr,
	"repeat": tRepeat, "return": tReturn, "then": tThen, "true": tTrue,
	"until": tUntil, "while": tWhile,
}

// symbols are the tokens of more than one character that are no words.
var symbols = map[int]string{
	tEOF: "<eof>", tConcat: "..", tDots: "...", tEq: "==", tGe: ">=", tLe: "<=",
	tNe: "~=", tNumber: "<number>", tName: "<name>", tString: "<string>",
}

// token is one piece of source text.
type token struct {
	kind int
	text string  // a name, a string's value
	raw  string  // the source text of names, strings and numbers, for messages
	num  float64 // a number's value
}

// kindText is how messages write a kind of token.
func kindText(kind int) string {
	if kind < 256 {
		if kind < 32 || kind == 127 {
			return "char(" + strconv.Itoa(kind) + ")"
		}
		return string([]byte{byte(kind)})
	}
	if s, ok := symbols[kind]; ok {
		return s
	}
	for word, k := range reserved {
		if k == kind {
			return word
		}
	}
	return "?"
}

// near is how messages write the token they stumbled over, "" for a NUL byte:
// C Lua takes its token, 0, for none.
func (t token) near() string {
	switch t.kind {
	case 0:
		return ""
	case tName, tString, tNumber:
		return t.raw
	}
	return kindText(t.kind)
}

// Error is a message about source text, as C Lua words it.
type Error struct {
	Name string // of the chunk, as messages show it
	Line int    // from 1
	Text string
}

func (e *Error) Error() string { return e.Name + ":" + strconv.Itoa(e.Line) + ": " + e.Text }

// Errorf returns an Error with a formatted text.
func Errorf(name string, line int, format string, args ...any) *Error {
	return &Error{Name: name, Line: line, Text: fmt.Sprintf(format, args...)}
}
