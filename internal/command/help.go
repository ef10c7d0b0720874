package command

import (
	"strings"

	"github.com/lockredis/lockredis/resp"
)

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
