package rediscli

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// appendRaw appends r as scripts read it: values without quotes, one a line.
func (o *options) appendRaw(to []byte, r reply) []byte {
	switch r.kind {
	case '*', '~', '>':
		for i, elem := range r.elems {
			if i > 0 {
				to = append(to, o.delimiter...)
			}
			to = o.appendRaw(to, elem)
		}
		return to
	case '%':
		for i := 0; i+1 < len(r.elems); i += 2 {
			if i > 0 {
				to = append(to, o.delimiter...)
			}
			to = append(o.appendRaw(to, r.elems[i]), ' ')
			to = o.appendRaw(to, r.elems[i+1])
		}
		return to
	case '#':
		return append(to, boolean(r)...)
	case '-':
		return append(append(to, r.text...), '\n')
	}
	if r.null {
		return to
	}
	return append(to, r.text...)
}

// appendStandard appends r as a person reads it: with types and numbered elements.
// prefix is what the lines after the first one begin with.
func appendStandard(to []byte, r reply, prefix string) []byte {
	if r.null {
		return append(to, "(nil)\n"...)
	}
	switch r.kind {
	case '-':
		return fmt.Appendf(to, "(error) %s\n", r.text)
	case ':':
		return fmt.Appendf(to, "(integer) %s\n", r.text)
	case ',':
		return fmt.Appendf(to, "(double) %s\n", r.text)
	case '#':
		return append(to, boolean(r)+"\n"...)
	case '$':
		return append(appendQuoted(to, r.text), '\n')
	case '*', '~', '>', '%':
		return appendNumbered(to, r, prefix)
	}
	return append(append(to, r.text...), '\n')
}

// appendNumbered appends a collection's elements, one a line, with their numbers.
func appendNumbered(to []byte, r reply, prefix string) []byte {
	kind := map[byte]struct {
		empty string
		sign  byte
	}{'*': {"array", ')'}, '>': {"push", ')'}, '~': {"set", '~'}, '%': {"hash", '#'}}[r.kind]
	if len(r.elems) == 0 {
		return append(to, "(empty "+kind.empty+")\n"...)
	}
	count, step := len(r.elems), 1
	if r.kind == '%' {
		count, step = count/2, 2
	}
	width := len(strconv.Itoa(count))
	inner := prefix + strings.Repeat(" ", width+2)
	for i := range count {
		if i > 0 {
			to = append(to, prefix...)
		}
		to = fmt.Appendf(to, "%*d%c ", width, i+1, kind.sign)
		value := r.elems[i*step]
		if r.kind == '%' {
			key := appendStandard(nil, value, inner)
			to = append(append(to, bytes.TrimSuffix(key, []byte{'\n'})...), " => "...)
			value = r.elems[i*step+1]
		}
		text := appendStandard(nil, value, inner)
		if r.kind == '%' && bytes.Count(text, []byte{'\n'}) > 1 {
			to = append(append(to, '\n'), inner...)
		}
		to = append(to, text...)
	}
	return to
}

func boolean(r reply) string {
	if string(r.text) == "t" {
		return "(true)"
	}
	return "(false)"
}

// appendQuoted appends text in double quotes, with escapes for what cannot be
// printed. redis-cli reads such words again.
func appendQuoted(to, text []byte) []byte {
	escapes := map[byte]string{'\\': `\\`, '"': `\"`, '\n': `\n`, '\r': `\r`, '\t': `\t`,
		'\a': `\a`, '\b': `\b`}
	to = append(to, '"')
	for _, c := range text {
		switch escape, ok := escapes[c]; {
		case ok:
			to = append(to, escape...)
		case c < ' ' || c > '~':
			to = fmt.Appendf(to, `\x%02x`, c)
		default:
			to = append(to, c)
		}
	}
	return append(to, '"')
}

// isText reports whether the reply of a command is a text of several lines. It is
// printed without quotes in every format.
func isText(command []string) bool {
	sub := ""
	if len(command) > 1 {
		sub = strings.ToLower(command[1])
	}
	switch strings.ToLower(command[0]) {
	case "info", "lolwut":
		return true
	case "debug":
		return sub == "htstats" || sub == "htstats-key"
	case "memory":
		return sub == "malloc-stats" || sub == "doctor"
	case "cluster":
		return len(command) == 2 && (sub == "nodes" || sub == "info")
	case "client":
		return sub == "list" || sub == "info"
	case "latency":
		return len(command) == 3 && sub == "graph" || len(command) == 2 && sub == "doctor"
	}
	return false
}
