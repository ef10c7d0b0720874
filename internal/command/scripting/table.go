package scripting

import (
	"github.com/lockredis/lockredis/internal/command"
)

// Commands returns the rows of the commands for scripts and functions.
func Commands() []*command.Command {
	return []*command.Command{
		{Name: "eval", Arity: -3, Flags: command.NoScript | command.Stale | command.SkipMonitor | command.NoMandatoryKeys | command.MovableKeys | command.MayReplicate | command.DeclaresInSource, Keys: command.Noted(command.Numkeys(command.RW|command.Access|command.Update, 2), "We cannot tell how the keys will be used so we assume the worst, RW and UPDATE"), Since: "2.6.0", Summary: "Runs a Lua script.", Told: command.ToldByParts, Run: eval},
		{Name: "eval_ro", Arity: -3, Flags: command.ReadOnly | command.NoScript | command.Stale | command.SkipMonitor | command.NoMandatoryKeys | command.MovableKeys | command.DeclaresInSource, Keys: command.Noted(command.Numkeys(command.RO|command.Access, 2), "We cannot tell how the keys will be used so we assume the worst, RO and ACCESS"), Since: "7.0.0", Summary: "Runs a Lua script that must not write.", Told: command.ToldByParts, Run: eval},
		{Name: "evalsha", Arity: -3, Flags: command.NoScript | command.Stale | command.SkipMonitor | command.NoMandatoryKeys | command.MovableKeys | command.MayReplicate | command.DeclaresBySHA, Keys: command.Numkeys(command.RW|command.Access|command.Update, 2), Since: "2.6.0", Summary: "Runs a cached Lua script.", Told: command.ToldByParts, Run: evalsha},
		{Name: "evalsha_ro", Arity: -3, Flags: command.ReadOnly | command.NoScript | command.Stale | command.SkipMonitor | command.NoMandatoryKeys | command.MovableKeys | command.DeclaresBySHA, Keys: command.Numkeys(command.RO|command.Access, 2), Since: "7.0.0", Summary: "Runs a cached Lua script that must not write.", Told: command.ToldByParts, Run: evalsha},
		{Name: "fcall", Arity: -3, Flags: command.NoScript | command.Stale | command.SkipMonitor | command.NoMandatoryKeys | command.MovableKeys | command.MayReplicate | command.DeclaresByName, Keys: command.Noted(command.Numkeys(command.RW|command.Access|command.Update, 2), "We cannot tell how the keys will be used so we assume the worst, RW and UPDATE"), Since: "7.0.0", Summary: "Calls a function of a library.", Told: command.ToldByParts, Run: fcall},
		{Name: "fcall_ro", Arity: -3, Flags: command.ReadOnly | command.NoScript | command.Stale | command.SkipMonitor | command.NoMandatoryKeys | command.MovableKeys | command.DeclaresByName, Keys: command.Noted(command.Numkeys(command.RO|command.Access, 2), "We cannot tell how the keys will be used so we assume the worst, RO and ACCESS"), Since: "7.0.0", Summary: "Calls a function that must not write.", Told: command.ToldByParts, Run: fcall},
		{Name: "function", Arity: -2, Since: "7.0.0", Summary: "Groups the commands about libraries of functions.", Subs: []*command.Command{
			{Name: "function|delete", Arity: 3, Flags: command.Write | command.NoScript, Tips: []string{"request_policy:all_shards", "response_policy:all_succeeded"}, Since: "7.0.0", Summary: "Deletes a library with its functions.", Run: functionDelete},
			{Name: "function|dump", Arity: 2, Flags: command.NoScript, Since: "7.0.0", Summary: "Returns all libraries as a payload for FUNCTION RESTORE.", Run: functionDump},
			{Name: "function|flush", Arity: -2, Flags: command.Write | command.NoScript, Tips: []string{"request_policy:all_shards", "response_policy:all_succeeded"}, Since: "7.0.0", Summary: "Deletes all libraries.", Run: functionFlush},
			{Name: "function|help", Arity: 2, Flags: command.Loading | command.Stale, Since: "7.0.0", Summary: "Lists the subcommands.", Run: command.Help},
			{Name: "function|kill", Arity: 2, Flags: command.NoScript | command.AllowBusy, Tips: []string{"request_policy:all_shards", "response_policy:one_succeeded"}, Since: "7.0.0", Summary: "Ends the running function, unless it has written.", Run: functionKill},
			{Name: "function|list", Arity: -2, Flags: command.NoScript, Tips: []string{"nondeterministic_output_order"}, Since: "7.0.0", Summary: "Lists the libraries and their functions.", Run: functionList},
			{Name: "function|load", Arity: -3, Flags: command.Write | command.DenyOOM | command.NoScript, Tips: []string{"request_policy:all_shards", "response_policy:all_succeeded"}, Since: "7.0.0", Summary: "Loads a library of functions.", Run: functionLoad},
			{Name: "function|restore", Arity: -3, Flags: command.Write | command.DenyOOM | command.NoScript, Tips: []string{"request_policy:all_shards", "response_policy:all_succeeded"}, Since: "7.0.0", Summary: "Loads the libraries of a payload that FUNCTION DUMP made.", Run: functionRestore},
			{Name: "function|stats", Arity: 2, Flags: command.NoScript | command.AllowBusy, Tips: []string{"nondeterministic_output", "request_policy:all_shards", "response_policy:special"}, Since: "7.0.0", Summary: "Tells which function runs, and how many there are.", Run: functionStats},
		}},
		{Name: "script", Arity: -2, Since: "2.6.0", Summary: "Groups the commands about cached scripts.", Subs: []*command.Command{
			{Name: "script|debug", Arity: 3, Flags: command.NoScript, Since: "3.2.0", Summary: "Turns the Lua debugger off; it cannot be turned on.", Run: scriptDebug},
			{Name: "script|exists", Arity: -3, Flags: command.NoScript, Tips: []string{"request_policy:all_shards", "response_policy:agg_logical_and"}, Since: "2.6.0", Summary: "Tells which scripts are cached.", Run: scriptExists},
			{Name: "script|flush", Arity: -2, Flags: command.NoScript, Tips: []string{"request_policy:all_nodes", "response_policy:all_succeeded"}, Since: "2.6.0", Summary: "Empties the script cache.", Run: scriptFlush},
			{Name: "script|help", Arity: 2, Flags: command.Loading | command.Stale, Since: "5.0.0", Summary: "Lists the subcommands.", Run: command.Help},
			{Name: "script|kill", Arity: 2, Flags: command.NoScript | command.AllowBusy, Tips: []string{"request_policy:all_shards", "response_policy:one_succeeded"}, Since: "2.6.0", Summary: "Ends the running script, unless it has written.", Run: scriptKill},
			{Name: "script|load", Arity: 3, Flags: command.NoScript | command.Stale, Tips: []string{"request_policy:all_nodes", "response_policy:all_succeeded"}, Since: "2.6.0", Summary: "Caches a script without running it.", Run: scriptLoad},
		}},
	}
}

// ValkeySubs returns the rows of the subcommands of SCRIPT that Valkey 9.1 has and Redis 7.0 has not.
func ValkeySubs() []*command.Command {
	return []*command.Command{
		{Name: "script|show", Arity: 3, Flags: command.NoScript | command.Stale, Since: "8.0.0", Summary: "Returns the source of a cached script.", Run: scriptShow},
	}
}
