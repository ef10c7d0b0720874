package growth

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// line is one command for one of a target's connections.
type line struct {
	conn  int // 0 is the main connection
	words [][]byte
}

// command returns the line's command as INFO commandstats names it.
func (l line) command() string {
	name := strings.ToLower(string(l.words[0]))
	switch name {
	case "object", "memory", "client", "pubsub", "script", "xgroup", "xinfo",
		"slowlog", "latency", "acl":
		name += "|" + strings.ToLower(string(l.words[1]))
	}
	return name
}

// place is the values for the braces of a template: a size and one of its elements.
type place struct{ n, i, unique int }

// term returns the value of one name or number.
func (p place) term(name string) int {
	switch name {
	case "n":
		return p.n
	case "i":
		return p.i
	case "new": // a number that no earlier line has
		return p.n + p.unique
	case "round":
		return p.unique
	case "turn": // one element after the other
		return p.unique % p.n
	case "mid":
		return p.n / 2
	case "last":
		return p.n - 1
	}
	number, err := strconv.Atoi(name)
	if err != nil {
		panic("growth: what is {" + name + "}?")
	}
	return number
}

// expand expands a template into a line. "@1 " in front names another connection. {mid+9}
// stands for a number, {mid:7} for the same in seven digits. A word with a star in braces
// stands for n words: {key:*} is key:0, key:1 …, and {key:*,v} has v after each.
func expand(template string, p place) line {
	var l line
	for _, word := range strings.Fields(template) {
		switch {
		case word[0] == '@':
			l.conn, _ = strconv.Atoi(p.fill(word[1:]))
		case word == "{bytes}":
			l.words = append(l.words, bytes.Repeat([]byte("x"), p.n))
		case strings.HasPrefix(word, "sha1("):
			sum := sha1.Sum([]byte(p.fill(strings.Trim(word[5:], "()"))))
			l.words = append(l.words, []byte(hex.EncodeToString(sum[:])))
		case word[0] == '{' && strings.Contains(word, "*"):
			for i := range p.n {
				for _, part := range strings.Split(strings.Trim(word, "{}"), ",") {
					l.words = append(l.words, []byte(strings.ReplaceAll(part, "*", strconv.Itoa(i))))
				}
			}
		default:
			l.words = append(l.words, []byte(p.fill(word)))
		}
	}
	return l
}

// fill replaces the numbers in braces of a word.
func (p place) fill(word string) string {
	before, rest, found := strings.Cut(word, "{")
	if !found {
		return strings.ReplaceAll(word, "~", " ")
	}
	sum, after, _ := strings.Cut(rest, "}")
	sum, width, padded := strings.Cut(sum, ":")
	value := 0
	for _, name := range strings.Split(sum, "+") {
		value += p.term(name)
	}
	text := strconv.Itoa(value)
	if padded {
		text = fmt.Sprintf("%0"+width+"d", value)
	}
	return strings.ReplaceAll(before, "~", " ") + text + p.fill(after)
}

// fixture calls do with the lines that build a group's data of size n. A template with
// {i} stands for n lines.
func fixture(templates []string, n int, do func(line)) {
	for _, template := range templates {
		times := 1
		if strings.Contains(template, "{i") {
			times = n
		}
		for i := range times {
			do(expand(template, place{n: n, i: i}))
		}
	}
}

// cycles returns the lines of several runs of a case on data of size n. The first of them
// is run number from. Their elements are spread over the data.
func (c testCase) cycles(n, from, count int) (lines []line) {
	const stride = 514229 // a prime: consecutive runs use distant elements
	for i := from; i < from+count; i++ {
		for _, template := range c.lines {
			lines = append(lines, expand(template, place{n: n, i: i * stride % n, unique: i}))
		}
	}
	return lines
}
