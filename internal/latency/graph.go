package latency

import (
	"fmt"
	"strings"
)

const (
	graphColumns = 80
	graphRows    = 4
	inks         = "_o#" // the levels of a character, lowest first
)

// Graph draws the spikes of e: a column for each, with its age at now (Unix seconds) below.
func (e *Event) Graph(now int64) string {
	low, high := e.Spikes[0].Millis, e.Spikes[0].Millis
	for _, s := range e.Spikes {
		low, high = min(low, s.Millis), max(high, s.Millis)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s - high %d ms, low %d ms (all time high %d ms)\n%s\n",
		e.Name, high, low, e.Longest, strings.Repeat("-", graphColumns))
	for i := 0; i < len(e.Spikes); i += graphColumns {
		if i > 0 {
			b.WriteByte('\n')
		}
		drawColumns(&b, e.Spikes[i:min(i+graphColumns, len(e.Spikes))], low, high, now)
	}
	return b.String()
}

// drawColumns draws a part of a graph.
func drawColumns(b *strings.Builder, spikes []Spike, low, high, now int64) {
	steps, span := int64(graphRows*len(inks)), max(high-low, 1)
	for row := range int64(graphRows) {
		base := (graphRows - 1 - row) * int64(len(inks))
		for _, s := range spikes {
			level := min((s.Millis-low)*steps/span, steps-1) - base
			switch {
			case level < 0:
				b.WriteByte(' ')
			case level < int64(len(inks)):
				b.WriteByte(inks[level])
			default:
				b.WriteByte('|')
			}
		}
		b.WriteByte('\n')
	}
	b.WriteString(strings.Repeat(" ", len(spikes)) + "\n")
	ages, deepest := make([]string, len(spikes)), 0
	for i, s := range spikes {
		ages[i] = age(now - s.Unix)
		deepest = max(deepest, len(ages[i]))
	}
	for i := range deepest {
		for _, text := range ages {
			if i < len(text) {
				b.WriteByte(text[i])
			} else {
				b.WriteByte(' ')
			}
		}
		b.WriteByte('\n')
	}
}

// age formats seconds in the largest unit.
func age(seconds int64) string {
	switch {
	case seconds < 60:
		return fmt.Sprintf("%ds", seconds)
	case seconds < 3600:
		return fmt.Sprintf("%dm", seconds/60)
	case seconds < 24*3600:
		return fmt.Sprintf("%dh", seconds/3600)
	}
	return fmt.Sprintf("%dd", seconds/(24*3600))
}
