package commands

import (
	"cmp"
	"slices"
	"sync"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/command/acl"
	"github.com/lockredis/lockredis/internal/command/bitmap"
	"github.com/lockredis/lockredis/internal/command/cluster"
	"github.com/lockredis/lockredis/internal/command/connection"
	"github.com/lockredis/lockredis/internal/command/debug"
	"github.com/lockredis/lockredis/internal/command/fault"
	"github.com/lockredis/lockredis/internal/command/generic"
	"github.com/lockredis/lockredis/internal/command/geo"
	"github.com/lockredis/lockredis/internal/command/hash"
	"github.com/lockredis/lockredis/internal/command/hll"
	"github.com/lockredis/lockredis/internal/command/list"
	"github.com/lockredis/lockredis/internal/command/lock"
	"github.com/lockredis/lockredis/internal/command/observe"
	"github.com/lockredis/lockredis/internal/command/pubsub"
	"github.com/lockredis/lockredis/internal/command/scripting"
	"github.com/lockredis/lockredis/internal/command/server"
	"github.com/lockredis/lockredis/internal/command/set"
	"github.com/lockredis/lockredis/internal/command/str"
	"github.com/lockredis/lockredis/internal/command/stream"
	"github.com/lockredis/lockredis/internal/command/transaction"
	"github.com/lockredis/lockredis/internal/command/zset"
)

// standard is the table of a server. It is built once for the process, and its rows never change:
// a server that is started for one test would spend most of its time on them. Such a server costs
// 33 KB; with rows of its own it was 697 KB.
var standard = sync.OnceValue(func() *command.Table {
	return command.NewTable(
		command.Group{Name: "generic", Rows: generic.Commands()},
		command.Group{Name: "string", Rows: str.Commands()},
		command.Group{Name: "hash", Rows: hash.Commands()},
		command.Group{Name: "list", Rows: list.Commands()},
		command.Group{Name: "set", Rows: set.Commands()},
		command.Group{Name: "sorted-set", Rows: zset.Commands()},
		command.Group{Name: "bitmap", Rows: bitmap.Commands()},
		command.Group{Name: "hyperloglog", Rows: hll.Commands()},
		command.Group{Name: "geo", Rows: geo.Commands()},
		command.Group{Name: "stream", Rows: stream.Commands()},
		command.Group{Name: "pubsub", Rows: pubsub.Commands()},
		command.Group{Name: "transactions", Rows: transaction.Commands()},
		command.Group{Name: "scripting", Rows: scripting.Commands()},
		command.Group{Name: "connection", Rows: connection.Commands()},
		command.Group{Name: "cluster", Rows: cluster.Commands()},
		command.Group{Name: "server", Rows: sorted(server.Commands(), debug.Commands())},
		command.Group{Name: "server", Rows: acl.Commands()},
		command.Group{Name: "server", Rows: observe.Commands()},
	)
})

// sorted returns the rows of one group in the order of their names.
func sorted(parts ...[]*command.Command) []*command.Command {
	rows := slices.Concat(parts...)
	slices.SortFunc(rows, func(a, b *command.Command) int { return cmp.Compare(a.Name, b.Name) })
	return rows
}

// NewTable returns the table of all commands.
func NewTable() *command.Table { return standard().Share() }

// Pick returns the table of another kind of node, such as a Sentinel. It has the rows of NewTable
// that names lists, and others. others are by group, and have other names.
func Pick(names []string, others map[string][]*command.Command) *command.Table {
	return standard().Pick(names, others)
}

// Row returns NewTable's row of that name with another function. The row must exist.
func Row(name string, run command.Func) *command.Command { return standard().Row(name, run) }

// AddLockCommands adds the commands of lockredis's own. They are in the table only while
// enable-lock-commands asks for them.
func AddLockCommands(t *command.Table) {
	t.Extend(command.Extension{Groups: own()})
}

// HideLockCommands adds the same commands for a test kit alone.
func HideLockCommands(t *command.Table) {
	for _, g := range own() {
		t.Hide(g)
	}
}

// own returns the groups of commands that Redis does not have.
func own() []command.Group {
	return []command.Group{{Name: "lock", Rows: lock.Commands()}, {Name: "fault", Rows: fault.Commands()}}
}

// EmulateValkey adds the commands of Valkey 9.1 that lock and cache clients use, and that Redis
// 7.0 does not have. They are in the table while the directive emulate names Valkey. Their Since
// is a version of Valkey. What differs otherwise asks Config.Valkey. Redis 7.0 stays the oracle
// of everything else.
func EmulateValkey(t *command.Table) {
	t.Extend(command.Extension{
		Groups: []command.Group{
			{Name: "hash", Rows: hash.ValkeyCommands()},
			{Name: "string", Rows: str.ValkeyCommands()},
			{Name: "connection", Rows: generic.ValkeyCommands()},
		},
		Subs: map[string][]*command.Command{
			"client": connection.ValkeySubs(),
			"script": scripting.ValkeySubs(),
		},
		Run: map[string]command.Func{
			"set":      str.ValkeySet,
			"readonly": cluster.Readonly, "readwrite": cluster.Readwrite, // also without cluster mode
		},
	})
}
