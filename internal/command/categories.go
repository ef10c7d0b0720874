package command

import (
	"github.com/lockredis/lockredis/internal/acl"
)

// groupCategory returns the ACL category of a group's commands, "" if there is none.
func groupCategory(group string) string {
	switch group {
	case "generic":
		return "keyspace"
	case "sorted-set":
		return "sortedset"
	case "transactions":
		return "transaction"
	case "server", "sentinel", "pubsub": // the category pubsub comes from PubSubFlag
		return ""
	}
	return group
}

// ACLCategories returns the command's ACL categories in Redis's order. They come from the
// row, or else from the group, and from the flags. A container gets none from its group.
func (cmd *Command) ACLCategories() []string {
	in := map[string]bool{}
	for _, name := range cmd.Categories {
		in[name] = true
	}
	if len(cmd.Categories) == 0 && !cmd.Container() {
		in[groupCategory(cmd.Group)] = true
	}
	in["write"] = cmd.Has(Write)
	in["read"] = cmd.Has(ReadOnly) && !in["scripting"]
	in["pubsub"] = in["pubsub"] || cmd.Has(PubSubFlag)
	in["blocking"] = in["blocking"] || cmd.Has(Blocking)
	in["admin"] = in["admin"] || cmd.Has(Admin)
	in["dangerous"] = in["dangerous"] || cmd.Has(Admin)
	in["fast"], in["slow"] = cmd.Has(Fast), !cmd.Has(Fast)
	var names []string
	for _, name := range acl.Categories {
		if in[name] {
			names = append(names, name)
		}
	}
	return names
}
