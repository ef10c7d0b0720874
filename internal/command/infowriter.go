package command

import (
	"fmt"
	"strings"
)

// InfoWriter collects INFO's lines.
type InfoWriter struct{ strings.Builder }

// Line writes a name and its value.
func (w *InfoWriter) Line(name string, value any) { fmt.Fprintf(w, "%s:%v\r\n", name, value) }

// Zero writes figures of things that there are none of here.
func (w *InfoWriter) Zero(names ...string) {
	for _, name := range names {
		w.Line(name, 0)
	}
}
