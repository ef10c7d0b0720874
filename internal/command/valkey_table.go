package command

// EmulateValkey adds the commands of Valkey 9.1 that lock and cache clients use. Their
// Since is a version of Valkey.
func (t *Table) EmulateValkey() { t.extend(t.addValkey) }

func (t *Table) addValkey() {
	t.add("hash", valkeyHashCommands())
	t.add("string", []*Command{
		{Name: "delifeq", Arity: 3, Flags: Write | Fast, Keys: key(RM|Delete, 1), Since: "9.0.0", Summary: "Deletes a string that has the given value.", Run: delifeq},
		{Name: "msetex", Arity: -4, Flags: Write | DenyOOM | MovableKeys, Keys: []KeySpec{{Flags: OW | Update, Begin: Index, Index: 1, Find: Keynum, FirstKey: 1, Step: 2}}, Tips: []string{"request_policy:multi_shard", "response_policy:all_succeeded"}, Since: "9.1.0", Summary: "Stores several strings with one deadline.", Run: msetex},
	})
	t.add("connection", []*Command{
		{Name: "waitaof", Arity: 4, Flags: Blocking, Tips: []string{"request_policy:all_shards", "response_policy:agg_min"}, Since: "7.2.0", Summary: "Waits until replicas have written the connection's changes to disk.", Run: waitaof},
	})
	t.addSubs("client",
		&Command{Name: "client|capa", Arity: -3, Flags: NoScript | Loading | Stale | AllowBusy | NeedsConnection, Since: "8.0.0", Summary: "Names capabilities of the client.", Run: clientCapa},
		&Command{Name: "client|import-source", Arity: 3, Flags: NoScript | Loading | Stale | NeedsConnection, Since: "8.1.0", Summary: "Marks the connection as the source of an import.", Run: clientImportSource},
		&Command{Name: "client|no-touch", Arity: 3, Flags: NoScript | Loading | Stale | AllowBusy | NeedsConnection, Since: "7.2.0", Summary: "Chooses whether the connection's commands count as accesses of keys.", Run: clientNoTouch},
		&Command{Name: "client|setinfo", Arity: 4, Flags: NoScript | Loading | Stale | AllowBusy | NeedsConnection, Tips: []string{"request_policy:all_nodes", "response_policy:all_succeeded"}, Since: "7.2.0", Summary: "Stores the name or the version of the client library.", Run: clientSetinfo},
	)
	t.addSubs("script",
		&Command{Name: "script|show", Arity: 3, Flags: NoScript | Stale, Since: "8.0.0", Summary: "Returns the source of a cached script.", Run: scriptShow},
	)
	t.byName["set"].Run = valkeySet
	t.byName["readonly"].Run, t.byName["readwrite"].Run = readonly, readwrite // also without cluster mode
}

// addSubs adds subcommands to the container called name.
func (t *Table) addSubs(name string, subs ...*Command) {
	container := t.byName[name]
	for _, sub := range subs {
		t.number(sub, container.Group)
		sub.KeepsCaching = name == "client"
		container.subs[sub.Name[len(name)+1:]] = sub
	}
	container.Subs = append(container.Subs, subs...)
}

func valkeyHashCommands() []*Command {
	const writes, reads = Write | Fast, ReadOnly | Fast
	return []*Command{
		{Name: "hexpire", Arity: -6, Flags: writes, Keys: key(RW|Update, 1), Since: "9.0.0", Summary: "Gives fields of a hash a time to live in seconds.", Run: hexpire},
		{Name: "hexpireat", Arity: -6, Flags: writes, Keys: key(RW|Update, 1), Since: "9.0.0", Summary: "Gives fields of a hash a deadline in Unix seconds.", Run: hexpireat},
		{Name: "hexpiretime", Arity: -5, Flags: reads, Keys: key(RO|Access, 1), Since: "9.0.0", Summary: "Returns the deadlines of fields in Unix seconds.", Run: hexpiretime},
		{Name: "hgetdel", Arity: -5, Flags: writes, Keys: key(RW|Access|Delete, 1), Since: "9.1.0", Summary: "Returns fields of a hash and deletes them.", Run: hgetdel},
		{Name: "hgetex", Arity: -5, Flags: writes, Keys: key(RW|Access|Update, 1), Since: "9.0.0", Summary: "Returns fields of a hash and changes their deadlines.", Run: hgetex},
		{Name: "hpersist", Arity: -5, Flags: writes, Keys: key(RW|Update, 1), Since: "9.0.0", Summary: "Removes the deadlines of fields.", Run: hpersist},
		{Name: "hpexpire", Arity: -6, Flags: writes, Keys: key(RW|Update, 1), Since: "9.0.0", Summary: "Gives fields of a hash a time to live in milliseconds.", Run: hpexpire},
		{Name: "hpexpireat", Arity: -6, Flags: writes, Keys: key(RW|Update, 1), Since: "9.0.0", Summary: "Gives fields of a hash a deadline in Unix milliseconds.", Run: hpexpireat},
		{Name: "hpexpiretime", Arity: -5, Flags: reads, Keys: key(RO|Access, 1), Since: "9.0.0", Summary: "Returns the deadlines of fields in Unix milliseconds.", Run: hpexpiretime},
		{Name: "hpttl", Arity: -5, Flags: reads, Keys: key(RO|Access, 1), Since: "9.0.0", Summary: "Returns the times to live of fields in milliseconds.", Run: hpttl},
		{Name: "hsetex", Arity: -6, Flags: writes | DenyOOM, Keys: key(RW|Insert, 1), Since: "9.0.0", Summary: "Stores fields of a hash with a deadline.", Run: hsetex},
		{Name: "httl", Arity: -5, Flags: reads, Keys: key(RO|Access, 1), Since: "9.0.0", Summary: "Returns the times to live of fields in seconds.", Run: httl},
	}
}
