package command

import (
	"strings"

	"github.com/lockredis/lockredis/resp"
)

// containerHelp answers a container's HELP from the table.
func containerHelp(c *Ctx, args resp.Args) resp.Reply {
	var topics []helpTopic
	for _, sub := range c.Table.Lookup(args[0]).Subs {
		if _, word, _ := strings.Cut(sub.Name, "|"); word != "help" {
			topics = append(topics, helpTopic{strings.ToUpper(word), sub.Summary})
		}
	}
	return helpReply(strings.ToUpper(args.String(0)), topics)
}

// helpTopic is a subcommand, as it is written, with its explanation.
type helpTopic struct{ usage, about string }

// helpReply is the answer to a container's HELP; name is in upper case.
func helpReply(name string, topics []helpTopic) resp.Reply {
	lines := []resp.Reply{resp.Status(name + " <subcommand> [<arg> [value] [opt] ...]. Subcommands are:")}
	for _, t := range append(topics, helpTopic{"HELP", "Print this help."}) {
		lines = append(lines, resp.Status(t.usage), resp.Status("    "+t.about))
	}
	return resp.Array(lines...)
}
