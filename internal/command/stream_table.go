package command

// streamCommands returns the rows of the stream commands.
func streamCommands() []*Command {
	streams := func(flags KeyFlags, from int) []KeySpec {
		return []KeySpec{{
			Flags: flags, Begin: Keyword, Keyword: keywordStreams, From: from,
			Find: Range, Last: -1, Step: 1, Limit: 2,
		}}
	}
	varies := []string{"nondeterministic_output"}
	return []*Command{
		{Name: "xack", Arity: -4, Flags: Write | Fast, Keys: key(RW|Update, 1), Since: "5.0.0", Summary: "Removes entries from a group's pending entries.", Run: xack},
		{Name: "xadd", Arity: -5, Flags: Write | DenyOOM | Fast, Keys: noted(key(RW|Update, 1), "UPDATE instead of INSERT because of the optional trimming feature"), Tips: varies, Since: "5.0.0", Summary: "Adds an entry to a stream, and can trim the stream.", Told: toldXadd, Run: xadd},
		{Name: "xautoclaim", Arity: -6, Flags: Write | Fast, Keys: key(RW|Delete, 1), Tips: varies, Since: "6.2.0", Summary: "Makes a consumer the owner of entries that are pending for long.", Told: toldByParts, Run: xautoclaim},
		{Name: "xclaim", Arity: -6, Flags: Write | Fast, Keys: key(RW|Update, 1), Tips: varies, Since: "5.0.0", Summary: "Makes a consumer the owner of pending entries.", Told: toldByParts, Run: xclaim},
		{Name: "xdel", Arity: -3, Flags: Write | Fast, Keys: key(RW|Delete, 1), Since: "5.0.0", Summary: "Deletes entries by their ids.", Run: xdel},
		{Name: "xgroup", Arity: -2, Since: "5.0.0", Summary: "Groups the commands for consumer groups.", Subs: []*Command{
			{Name: "xgroup|create", Arity: -5, Flags: Write | DenyOOM, Keys: key(RW|Insert, 2), Since: "5.0.0", Summary: "Creates a consumer group.", Run: xgroupCreate},
			{Name: "xgroup|createconsumer", Arity: 5, Flags: Write | DenyOOM, Keys: key(RW|Insert, 2), Since: "6.2.0", Summary: "Creates a consumer of a group.", Run: xgroupCreateconsumer},
			{Name: "xgroup|delconsumer", Arity: 5, Flags: Write, Keys: key(RW|Delete, 2), Since: "5.0.0", Summary: "Deletes a consumer with its pending entries.", Run: xgroupDelconsumer},
			{Name: "xgroup|destroy", Arity: 4, Flags: Write, Keys: key(RW|Delete, 2), Since: "5.0.0", Summary: "Deletes a consumer group.", Run: xgroupDestroy},
			{Name: "xgroup|help", Arity: 2, Flags: Loading | Stale, Categories: []string{"stream"}, Since: "5.0.0", Summary: "Lists the subcommands.", Run: Help},
			{Name: "xgroup|setid", Arity: -5, Flags: Write, Keys: key(RW|Update, 2), Since: "5.0.0", Summary: "Sets the last delivered id of a group.", Run: xgroupSetid},
		}},
		{Name: "xinfo", Arity: -2, Since: "5.0.0", Summary: "Groups the commands that inspect a stream.", Subs: []*Command{
			{Name: "xinfo|consumers", Arity: 4, Flags: ReadOnly, Keys: key(RO|Access, 2), Tips: varies, Since: "5.0.0", Summary: "Lists the consumers of a group.", Run: xinfoConsumers},
			{Name: "xinfo|groups", Arity: 3, Flags: ReadOnly, Keys: key(RO|Access, 2), Since: "5.0.0", Summary: "Lists the groups of a stream.", Run: xinfoGroups},
			{Name: "xinfo|help", Arity: 2, Flags: Loading | Stale, Categories: []string{"stream"}, Since: "5.0.0", Summary: "Lists the subcommands.", Run: Help},
			{Name: "xinfo|stream", Arity: -3, Flags: ReadOnly, Keys: key(RO|Access, 2), Since: "5.0.0", Summary: "Describes a stream.", Run: xinfoStream},
		}},
		{Name: "xlen", Arity: 2, Flags: ReadOnly | Fast, Keys: key(RO, 1), Since: "5.0.0", Summary: "Returns the number of entries.", Run: xlen},
		{Name: "xpending", Arity: -3, Flags: ReadOnly, Keys: key(RO|Access, 1), Tips: varies, Since: "5.0.0", Summary: "Lists the pending entries of a group, or summarizes them.", Run: xpending},
		{Name: "xrange", Arity: -4, Flags: ReadOnly, Keys: key(RO|Access, 1), Since: "5.0.0", Summary: "Returns the entries between two ids.", Run: xrange},
		{Name: "xread", Arity: -4, Flags: ReadOnly | Blocking | MovableKeys, Keys: streams(RO|Access, 1), Since: "5.0.0", Summary: "Returns the entries of streams above given ids; can wait for them.", ReadKeys: xreadKeys, Run: xread},
		{Name: "xreadgroup", Arity: -7, Flags: Write | Blocking | MovableKeys, Keys: streams(RO|Access, 4), Since: "5.0.0", Summary: "Reads streams as a consumer of a group; can wait for entries.", Told: toldByParts, Run: xreadgroup},
		{Name: "xrevrange", Arity: -4, Flags: ReadOnly, Keys: key(RO|Access, 1), Since: "5.0.0", Summary: "Returns the entries between two ids in reverse order.", Run: xrevrange},
		{Name: "xsetid", Arity: -3, Flags: Write | DenyOOM | Fast, Keys: key(RW|Update, 1), Since: "5.0.0", Summary: "Sets the last id of a stream.", Run: xsetid},
		{Name: "xtrim", Arity: -4, Flags: Write, Keys: key(RW|Delete, 1), Tips: varies, Since: "5.0.0", Summary: "Removes the oldest entries of a stream.", Told: toldXtrim, Run: xtrim},
	}
}
