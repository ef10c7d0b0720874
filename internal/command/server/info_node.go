package server

import (
	"strings"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

// InfoSection is a section of INFO that NewTable's INFO does not have.
type InfoSection struct {
	Name, Title string
	// Lines returns names and values, in turn.
	Lines func(c *command.Ctx) []any
}

// InfoOf returns INFO for a node that is no standalone server. It has the sections server,
// clients, stats and cpu, and last its own section.
func InfoOf(mode string, last InfoSection) command.Func {
	var sections []infoSection
	for _, s := range infoSections() {
		switch s.name {
		case "server":
			s.write = inMode(mode, s.write)
		case "clients", "stats", "cpu":
		default:
			continue
		}
		sections = append(sections, s)
	}
	sections = append(sections, infoSection{name: last.Name, title: last.Title,
		write: func(c *command.Ctx, w *command.InfoWriter) {
			lines := last.Lines(c)
			for i := 0; i < len(lines); i += 2 {
				w.Line(lines[i].(string), lines[i+1])
			}
		}})
	return func(c *command.Ctx, args resp.Args) resp.Reply {
		return resp.BulkString(writeInfo(c, sections, args))
	}
}

// inMode returns write with another redis_mode.
func inMode(mode string, write func(*command.Ctx, *command.InfoWriter)) func(*command.Ctx, *command.InfoWriter) {
	return func(c *command.Ctx, w *command.InfoWriter) {
		var standalone command.InfoWriter
		write(c, &standalone)
		w.WriteString(strings.Replace(standalone.String(),
			"redis_mode:standalone\r\n", "redis_mode:"+mode+"\r\n", 1))
	}
}
