package command

import (
	"maps"
	"slices"
	"strings"

	"github.com/lockredis/lockredis/resp"
)

// This file lets another kind of node have a command table of its own: a Sentinel has few of
// a server's commands, and commands that a server does not have.

// NewTableOf returns a table with the rows of NewTable that names lists, and with others.
// others are by group, and have other names.
func NewTableOf(names []string, others map[string][]*Command) *Table {
	s := &commandSet{byName: map[string]*Command{}, absent: map[string]bool{}}
	for _, name := range names {
		cmd := standard().byName[name].copy()
		s.add(cmd.Group, []*Command{cmd})
	}
	for _, group := range slices.Sorted(maps.Keys(others)) {
		s.add(group, others[group])
	}
	s.fillSlots()
	return newTable(s)
}

// Row returns NewTable's row of that name with another function. The row must exist.
func Row(name string, run Func) *Command {
	row := standard().byName[name].copy()
	row.Run = run
	return row
}

// HelloAs returns HELLO for a node whose mode is not "standalone". Such a node has no role.
func HelloAs(mode string) Func {
	return func(c *Ctx, args resp.Args) resp.Reply {
		reply := hello(c, args)
		if reply.IsError() {
			return reply
		}
		fields := reply.Elems()
		var kept []resp.Reply
		for i := 0; i < len(fields); i += 2 {
			switch name, value := fields[i], fields[i+1]; name.Text() {
			case "role":
			case "mode":
				kept = append(kept, name, resp.BulkString(mode))
			default:
				kept = append(kept, name, value)
			}
		}
		return resp.Map(kept...)
	}
}

// InfoSection is a section of INFO that NewTable's INFO does not have.
type InfoSection struct {
	Name, Title string
	// Lines returns names and values, in turn.
	Lines func(c *Ctx) []any
}

// InfoOf returns INFO for a node that is no standalone server. It has the sections server,
// clients, stats and cpu, and last its own section.
func InfoOf(mode string, last InfoSection) Func {
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
		write: func(c *Ctx, w *infoWriter) {
			lines := last.Lines(c)
			for i := 0; i < len(lines); i += 2 {
				w.line(lines[i].(string), lines[i+1])
			}
		}})
	return func(c *Ctx, args resp.Args) resp.Reply {
		return resp.BulkString(writeInfo(c, sections, args))
	}
}

// inMode returns write with another redis_mode.
func inMode(mode string, write func(*Ctx, *infoWriter)) func(*Ctx, *infoWriter) {
	return func(c *Ctx, w *infoWriter) {
		var standalone infoWriter
		write(c, &standalone)
		w.WriteString(strings.Replace(standalone.String(),
			"redis_mode:standalone\r\n", "redis_mode:"+mode+"\r\n", 1))
	}
}

// Help is the HELP subcommand of a container. Its text comes from the table.
func Help(c *Ctx, args resp.Args) resp.Reply { return containerHelp(c, args) }
