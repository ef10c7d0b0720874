package lock

import (
	"strings"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

// usage has the arguments of the commands that have some.
var usage = map[string]string{
	"clock.advance": "<milliseconds> [WAKE <YES|NO>]",
	"clock.reset":   "[WAKE <YES|NO>]",
	"clock.set":     "<unix-time-milliseconds> [WAKE <YES|NO>]",
	"lock.await":    "<name> <HELD|FREE|WAITERS <n>> [OWNER <owner>] [TIMEOUT <milliseconds>]",
	"lock.end":      "<name> [<owner>]",
	"lock.leaks":    "[ALL]",
	"lock.list":     "[<pattern>]",
	"lock.waiters":  "<name> [PROBE [TIMEOUT <milliseconds>]]",
}

// helpOf returns CLOCK HELP or LOCK HELP. It lists the commands of the group that are in the table.
func helpOf(group string) command.Func {
	return func(c *command.Ctx, _ resp.Args) resp.Reply {
		lines := []resp.Reply{resp.Status(group + ".<command> [<arg> [value] [opt] ...]. Commands are:")}
		prefix := strings.ToLower(group) + "."
		for _, row := range c.Table.All() {
			if name, ok := strings.CutPrefix(row.Name, prefix); ok && row.Has(command.Own) {
				lines = append(lines, resp.Status(strings.TrimSpace(strings.ToUpper(name)+" "+usage[row.Name])),
					resp.Status("    "+row.Summary))
			}
		}
		return resp.Array(append(lines, resp.Status(group+" HELP"), resp.Status("    Print this help."))...)
	}
}
