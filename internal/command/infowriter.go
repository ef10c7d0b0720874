package command

import (
	"fmt"
	"strings"
)

// infoWriter collects INFO's lines.
type infoWriter struct{ strings.Builder }

func (w *infoWriter) line(name string, value any) { fmt.Fprintf(w, "%s:%v\r\n", name, value) }

// zero writes figures of things that there are none of here.
func (w *infoWriter) zero(names ...string) {
	for _, name := range names {
		w.line(name, 0)
	}
}
