package stream

import (
	"github.com/lockredis/lockredis/internal/command"
)

// Commands returns the rows of the stream commands.
func Commands() []*command.Command {
	streams := func(flags command.KeyFlags, from int) []command.KeySpec {
		return []command.KeySpec{{
			Flags: flags, Begin: command.Keyword, Keyword: command.KeywordStreams, From: from,
			Find: command.Range, Last: -1, Step: 1, Limit: 2,
		}}
	}
	varies := []string{"nondeterministic_output"}
	return []*command.Command{
		{Name: "xack", Arity: -4, Flags: command.Write | command.Fast, Keys: command.Key(command.RW|command.Update, 1), Since: "5.0.0", Summary: "Removes entries from a group's pending entries.", Run: xack},
		{Name: "xadd", Arity: -5, Flags: command.Write | command.DenyOOM | command.Fast, Keys: command.Noted(command.Key(command.RW|command.Update, 1), "UPDATE instead of INSERT because of the optional trimming feature"), Tips: varies, Since: "5.0.0", Summary: "Adds an entry to a stream, and can trim the stream.", Told: toldXadd, Run: xadd},
		{Name: "xautoclaim", Arity: -6, Flags: command.Write | command.Fast, Keys: command.Key(command.RW|command.Delete, 1), Tips: varies, Since: "6.2.0", Summary: "Makes a consumer the owner of entries that are pending for long.", Told: command.ToldByParts, Run: xautoclaim},
		{Name: "xclaim", Arity: -6, Flags: command.Write | command.Fast, Keys: command.Key(command.RW|command.Update, 1), Tips: varies, Since: "5.0.0", Summary: "Makes a consumer the owner of pending entries.", Told: command.ToldByParts, Run: xclaim},
		{Name: "xdel", Arity: -3, Flags: command.Write | command.Fast, Keys: command.Key(command.RW|command.Delete, 1), Since: "5.0.0", Summary: "Deletes entries by their ids.", Run: xdel},
		{Name: "xgroup", Arity: -2, Since: "5.0.0", Summary: "Groups the commands for consumer groups.", Subs: []*command.Command{
			{Name: "xgroup|create", Arity: -5, Flags: command.Write | command.DenyOOM, Keys: command.Key(command.RW|command.Insert, 2), Since: "5.0.0", Summary: "Creates a consumer group.", Run: xgroupCreate},
			{Name: "xgroup|createconsumer", Arity: 5, Flags: command.Write | command.DenyOOM, Keys: command.Key(command.RW|command.Insert, 2), Since: "6.2.0", Summary: "Creates a consumer of a group.", Run: xgroupCreateconsumer},
			{Name: "xgroup|delconsumer", Arity: 5, Flags: command.Write, Keys: command.Key(command.RW|command.Delete, 2), Since: "5.0.0", Summary: "Deletes a consumer with its pending entries.", Run: xgroupDelconsumer},
			{Name: "xgroup|destroy", Arity: 4, Flags: command.Write, Keys: command.Key(command.RW|command.Delete, 2), Since: "5.0.0", Summary: "Deletes a consumer group.", Run: xgroupDestroy},
			{Name: "xgroup|help", Arity: 2, Flags: command.Loading | command.Stale, Categories: []string{"stream"}, Since: "5.0.0", Summary: "Lists the subcommands.", Run: command.Help},
			{Name: "xgroup|setid", Arity: -5, Flags: command.Write, Keys: command.Key(command.RW|command.Update, 2), Since: "5.0.0", Summary: "Sets the last delivered id of a group.", Run: xgroupSetid},
		}},
		{Name: "xinfo", Arity: -2, Since: "5.0.0", Summary: "Groups the commands that inspect a stream.", Subs: []*command.Command{
			{Name: "xinfo|consumers", Arity: 4, Flags: command.ReadOnly, Keys: command.Key(command.RO|command.Access, 2), Tips: varies, Since: "5.0.0", Summary: "Lists the consumers of a group.", Run: xinfoConsumers},
			{Name: "xinfo|groups", Arity: 3, Flags: command.ReadOnly, Keys: command.Key(command.RO|command.Access, 2), Since: "5.0.0", Summary: "Lists the groups of a stream.", Run: xinfoGroups},
			{Name: "xinfo|help", Arity: 2, Flags: command.Loading | command.Stale, Categories: []string{"stream"}, Since: "5.0.0", Summary: "Lists the subcommands.", Run: command.Help},
			{Name: "xinfo|stream", Arity: -3, Flags: command.ReadOnly, Keys: command.Key(command.RO|command.Access, 2), Since: "5.0.0", Summary: "Describes a stream.", Run: xinfoStream},
		}},
		{Name: "xlen", Arity: 2, Flags: command.ReadOnly | command.Fast, Keys: command.Key(command.RO, 1), Since: "5.0.0", Summary: "Returns the number of entries.", Run: xlen},
		{Name: "xpending", Arity: -3, Flags: command.ReadOnly, Keys: command.Key(command.RO|command.Access, 1), Tips: varies, Since: "5.0.0", Summary: "Lists the pending entries of a group, or summarizes them.", Run: xpending},
		{Name: "xrange", Arity: -4, Flags: command.ReadOnly, Keys: command.Key(command.RO|command.Access, 1), Since: "5.0.0", Summary: "Returns the entries between two ids.", Run: xrange},
		{Name: "xread", Arity: -4, Flags: command.ReadOnly | command.Blocking | command.MovableKeys, Keys: streams(command.RO|command.Access, 1), Since: "5.0.0", Summary: "Returns the entries of streams above given ids; can wait for them.", ReadKeys: xreadKeys, Run: xread},
		{Name: "xreadgroup", Arity: -7, Flags: command.Write | command.Blocking | command.MovableKeys, Keys: streams(command.RO|command.Access, 4), Since: "5.0.0", Summary: "Reads streams as a consumer of a group; can wait for entries.", Told: command.ToldByParts, Run: xreadgroup},
		{Name: "xrevrange", Arity: -4, Flags: command.ReadOnly, Keys: command.Key(command.RO|command.Access, 1), Since: "5.0.0", Summary: "Returns the entries between two ids in reverse order.", Run: xrevrange},
		{Name: "xsetid", Arity: -3, Flags: command.Write | command.DenyOOM | command.Fast, Keys: command.Key(command.RW|command.Update, 1), Since: "5.0.0", Summary: "Sets the last id of a stream.", Run: xsetid},
		{Name: "xtrim", Arity: -4, Flags: command.Write, Keys: command.Key(command.RW|command.Delete, 1), Tips: varies, Since: "5.0.0", Summary: "Removes the oldest entries of a stream.", Told: toldXtrim, Run: xtrim},
	}
}
