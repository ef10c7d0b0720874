package command

import (
	"cmp"
	"slices"
	"sync"
)

// standard is the table of a server. It is built once for the process, and its rows never change:
// a server that is started for one test would spend most of its time on them. Such a server costs
// 33 KB; with rows of its own it was 697 KB.
var standard = sync.OnceValue(func() *Table {
	return newTableX(
		Group{Name: "generic", Rows: genericCommands()},
		Group{Name: "string", Rows: stringCommands()},
		Group{Name: "hash", Rows: hashCommands()},
		Group{Name: "list", Rows: listCommands()},
		Group{Name: "set", Rows: setCommands()},
		Group{Name: "sorted-set", Rows: zsetCommands()},
		Group{Name: "bitmap", Rows: bitmapCommands()},
		Group{Name: "hyperloglog", Rows: hllCommands()},
		Group{Name: "geo", Rows: geoCommands()},
		Group{Name: "stream", Rows: streamCommands()},
		Group{Name: "pubsub", Rows: pubsubCommands()},
		Group{Name: "transactions", Rows: transactionCommands()},
		Group{Name: "scripting", Rows: scriptingCommands()},
		Group{Name: "connection", Rows: connectionCommands()},
		Group{Name: "cluster", Rows: clusterCommands()},
		Group{Name: "server", Rows: sorted(serverCommands(), debugCommands())},
		Group{Name: "server", Rows: aclCommands()},
		Group{Name: "server", Rows: observeCommands()},
	)
})

// sorted returns the rows of one group in the order of their names.
func sorted(parts ...[]*Command) []*Command {
	rows := slices.Concat(parts...)
	slices.SortFunc(rows, func(a, b *Command) int { return cmp.Compare(a.Name, b.Name) })
	return rows
}

// NewTable returns the table of all commands.
func NewTable() *Table { return standard().Share() }

// Pick returns the table of another kind of node, such as a Sentinel. It has the rows of NewTable
// that names lists, and others. others are by group, and have other names.
func Pick(names []string, others map[string][]*Command) *Table {
	return standard().Pick(names, others)
}

// Row returns NewTable's row of that name with another function. The row must exist.
func Row(name string, run Func) *Command { return standard().Row(name, run) }

// AddLockCommands adds the commands of lockredis's own. They are in the table only while
// enable-lock-commands asks for them.
func AddLockCommands(t *Table) {
	t.Extend(Extension{Groups: []Group{{Name: "lock", Rows: lockCommands()}}})
}

// EmulateValkey adds the commands of Valkey 9.1 that lock and cache clients use, and that Redis
// 7.0 does not have. They are in the table while the directive emulate names Valkey. Their Since
// is a version of Valkey. What differs otherwise asks Config.Valkey. Redis 7.0 stays the oracle
// of everything else.
func EmulateValkey(t *Table) {
	t.Extend(Extension{
		Groups: []Group{
			{Name: "hash", Rows: hashValkeyCommands()},
			{Name: "string", Rows: stringValkeyCommands()},
			{Name: "connection", Rows: genericValkeyCommands()},
		},
		Subs: map[string][]*Command{
			"client": connectionValkeySubs(),
			"script": scriptingValkeySubs(),
		},
		Run: map[string]Func{
			"set":      valkeySet,
			"readonly": readonly, "readwrite": readwrite, // also without cluster mode
		},
	})
}
