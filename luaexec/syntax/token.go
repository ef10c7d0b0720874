package syntax

import (
	"fmt"
	"strconv"
)

// Kinds of tokens that are not a single character.
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

// symbols are the texts of the kinds that are neither single characters nor reserved
// words.
var symbols = map[int]string{
	tEOF: "<eof>", tConcat: "..", tDots: "...", tEq: "==", tGe: ">=", tLe: "<=",
	tNe: "~=", tNumber: "<number>", tName: "<name>", tString: "<string>",
}

// token is one piece of source text.
type token struct {
	kind int
	text string  // a name, or the value of a string
	raw  string  // the source text of a name, string or number, for error messages
	num  float64 // the value of a number
}

// kindText is the text of a kind of token in error messages.
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

// near is the text of a token after "near" in error messages. It is "" for a NUL byte,
// whose kind 0 means no token in C Lua.
func (t token) near() string {
	switch t.kind {
	case 0:
		return ""
	case tName, tString, tNumber:
		return t.raw
	}
	return kindText(t.kind)
}

// Error is C Lua's error for source text that does not compile.
type Error struct {
	Name string // name of the chunk in messages
	Line int    // from 1
	Text string
}

func (e *Error) Error() string { return e.Name + ":" + strconv.Itoa(e.Line) + ": " + e.Text }

// Errorf returns an Error with a formatted text.
func Errorf(name string, line int, format string, args ...any) *Error {
	return &Error{Name: name, Line: line, Text: fmt.Sprintf(format, args...)}
}
