//go:build linux

package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// row is a line of the table.
type row struct {
	name, unit string
	values     map[string][]float64 // values of all rounds, by server
	own        string               // the server that the row is about: lockredis, if not a special one
	against    string               // the server to compare it with
	goal       *goal
}

// goal is the value that a row should reach.
type goal struct {
	ofRatio       bool // the goal is for lockredis's ratio to the other; else for its own value
	higher        bool // a higher value is better
	goal, stretch bound
}

// bound is a number, or none.
type bound struct {
	at   float64
	none bool
}

var unbounded = bound{none: true}

func ratioAtLeast(g, stretch float64) *goal {
	return &goal{true, true, bound{at: g}, bound{at: stretch}}
}
func ratioAtMost(g, stretch float64) *goal {
	return &goal{true, false, bound{at: g}, bound{at: stretch}}
}
func valueAtMost(g, stretch float64) *goal {
	return &goal{false, false, bound{at: g}, bound{at: stretch}}
}

// only returns the goal without its stretch, stretched returns the goal with only its
// stretch.
func only(g *goal) *goal      { g.stretch = unbounded; return g }
func stretched(g *goal) *goal { g.goal = unbounded; return g }

// met returns which part of the goal a value reaches.
func (g *goal) met(value float64) string {
	reaches := func(b bound) bool { return !b.none && (value == b.at || value > b.at == g.higher) }
	switch {
	case reaches(g.stretch):
		return "stretch"
	case reaches(g.goal):
		return "yes"
	case g.goal.none:
		return "" // the row has no goal
	}
	return "no"
}

// add adds a row that compares lockredis with redis-server. A nil goal means no goal.
func (b *bench) add(name, unit string, values map[string][]float64, g *goal) {
	b.addAgainst(redisServer, name, unit, values, g)
}

func (b *bench) addAgainst(other, name, unit string, values map[string][]float64, g *goal) {
	b.addRow(row{name, unit, values, lockredis, other, g})
}

func (b *bench) addRow(r row) {
	b.rows = append(b.rows, r)
	fmt.Println(strings.Join(slices.DeleteFunc(r.cells(columns),
		func(s string) bool { return s == "" }), " | "))
}

func median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// ratio returns the ratio of the medians. least and most are the ratios of single rounds.
func (r row) ratio() (ratio, least, most float64) {
	own, other := r.values[r.own], r.values[r.against]
	least, most = math.Inf(1), math.Inf(-1)
	for i := range min(len(own), len(other)) {
		least, most = min(least, own[i]/other[i]), max(most, own[i]/other[i])
	}
	return median(own) / median(other), least, most
}

// cells returns the name, a column for each server, the ratio, and the goal.
func (r row) cells(servers []string) []string {
	line := []string{r.name + ", " + r.unit}
	for _, name := range servers {
		text := ""
		if v := r.values[name]; len(v) > 0 {
			text = number(median(v))
		}
		line = append(line, text)
	}
	ratio, least, most := r.ratio()
	text := ""
	if !math.IsNaN(ratio) && !math.IsInf(ratio, 0) {
		text = fmt.Sprintf("%.2f", ratio)
		if len(r.values[r.own]) > 1 {
			text += fmt.Sprintf(" (%.2f–%.2f)", least, most)
		}
	}
	line = append(line, text)
	if r.goal == nil {
		return append(line, "", "", "")
	}
	value := median(r.values[r.own])
	if r.goal.ofRatio {
		value = ratio
	}
	return append(line, r.wanted(r.goal.goal), r.wanted(r.goal.stretch), r.goal.met(value))
}

// wanted formats a bound.
func (r row) wanted(b bound) string {
	if b.none {
		return ""
	}
	sign := pick(r.goal.higher, "≥ ", "≤ ")
	switch {
	case r.goal.ofRatio:
		return sign + strconv.FormatFloat(b.at, 'g', -1, 64)
	case b.at == 0 || b.at == zeroCPU:
		return "0"
	}
	return sign + number(b.at) + " " + r.unit
}

// number formats a number with at least three digits, in groups.
func number(v float64) string {
	decimals := 0
	if magnitude := math.Abs(v); magnitude < 100 && v != math.Trunc(v) {
		decimals = pick(magnitude < 10, 2, 1)
	}
	text := strconv.FormatFloat(v, 'f', decimals, 64)
	if decimals > 0 {
		return text
	}
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// markdown returns the machine, the table and the notes.
func (b *bench) markdown() string {
	var servers []string
	for _, name := range columns {
		if slices.ContainsFunc(b.rows, func(r row) bool { return len(r.values[name]) > 0 }) {
			servers = append(servers, name)
		}
	}
	table := [][]string{append(append([]string{"case"}, servers...), "ratio (rounds)", "goal",
		"stretch", "met")}
	for _, r := range b.rows {
		table = append(table, r.cells(servers))
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%s\n%s", b.machine(), align(table))
	for _, n := range b.notes {
		fmt.Fprintf(&out, "\n- %s", n)
	}
	return out.String() + "\n"
}

// align formats a Markdown table. Each column is as wide as its widest cell.
func align(table [][]string) string {
	width := make([]int, len(table[0]))
	for _, line := range table {
		for i, cell := range line {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	var out strings.Builder
	for n, line := range table {
		for i, cell := range line {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			out.WriteString(pick(i == 0, "| "+cell+pad+" |", " "+pad+cell+" |"))
		}
		out.WriteByte('\n')
		if n == 0 {
			for i, w := range width {
				out.WriteString(pick(i == 0, "|"+strings.Repeat("-", w+2)+"|", strings.Repeat("-", w+1)+":|"))
			}
			out.WriteByte('\n')
		}
	}
	return out.String()
}

func count(n int, noun string) string {
	return number(float64(n)) + " " + noun + pick(n == 1, "", "s")
}
