package command

import (
	"fmt"
	"strings"

	"github.com/lockredis/lockredis/resp"
)

// ReplyBlocks allocates the small arrays and texts of a large reply in blocks. The zero value
// is ready.
type ReplyBlocks struct {
	free  []resp.Reply
	block int // the size of the last block
	Text  []byte
}

// Array returns an array of n elements. The caller fills its elements.
func (r *ReplyBlocks) Array(n int) []resp.Reply {
	const most = 1024
	if n > len(r.free) {
		r.block = max(n, min(2*r.block, most))
		r.free = make([]resp.Reply, r.block)
	}
	elems := r.free[:n:n]
	r.free = r.free[n:]
	return elems
}

// Room makes room for n bytes behind text and returns the length of text. The caller appends
// to text.
func (r *ReplyBlocks) Room(n int) (from int) {
	const least, most = 128, 4096
	if cap(r.Text)-len(r.Text) < n {
		r.Text = make([]byte, 0, max(n, min(max(least, 2*cap(r.Text)), most)))
	}
	return len(r.Text)
}

// Bulk returns the end of text, from a position on, as a bulk string.
func (r *ReplyBlocks) Bulk(from int) resp.Reply {
	return resp.Bulk(r.Text[from:len(r.Text):len(r.Text)])
}

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

// Help is the HELP subcommand of a container. Its text comes from the table.
func Help(c *Ctx, args resp.Args) resp.Reply {
	var topics []HelpTopic
	for _, sub := range c.Table.Lookup(args[0]).Subs {
		if _, name, _ := strings.Cut(sub.Name, "|"); name != "help" {
			topics = append(topics, HelpTopic{strings.ToUpper(name), sub.Summary})
		}
	}
	return HelpReply(strings.ToUpper(args.String(0)), topics)
}

// HelpTopic is a subcommand with its arguments, and its explanation.
type HelpTopic struct{ Usage, About string }

// HelpReply is the reply of a container's HELP. name is the container's, in upper case.
func HelpReply(name string, topics []HelpTopic) resp.Reply {
	title := name + " <subcommand> [<arg> [value] [opt] ...]. Subcommands are:"
	lines := []resp.Reply{resp.Status(title)}
	for _, t := range append(topics, HelpTopic{"HELP", "Print this help."}) {
		lines = append(lines, resp.Status(t.Usage), resp.Status("    "+t.About))
	}
	return resp.Array(lines...)
}

// Modules returns the loaded modules: none in Redis.
func Modules(c *Ctx) resp.Reply {
	if c.Config.Valkey() {
		return valkeyModules
	}
	return resp.EmptyArray
}

// valkeyModules is the list of modules: Valkey's Lua is one.
var valkeyModules = resp.Array(resp.Map(
	resp.BulkString("name"), resp.BulkString("lua"), resp.BulkString("ver"), resp.Int(1),
	resp.BulkString("path"), resp.BulkString("lua"), resp.BulkString("args"), resp.EmptyArray,
))
