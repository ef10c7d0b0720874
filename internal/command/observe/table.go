package observe

import (
	"github.com/lockredis/lockredis/internal/command"
)

// Commands returns the rows of the commands that show what the server does: MONITOR,
// SLOWLOG and LATENCY.
func Commands() []*command.Command {
	const shown = command.Admin | command.NoScript | command.Loading | command.Stale
	everywhere := []string{"nondeterministic_output", "request_policy:all_nodes", "response_policy:special"}
	cleared := []string{"request_policy:all_nodes", "response_policy:all_succeeded"}
	return []*command.Command{
		{Name: "latency", Arity: -2, Since: "2.8.13", Summary: "Groups the commands about latency.", Subs: []*command.Command{
			{Name: "latency|doctor", Arity: 2, Flags: shown, Tips: everywhere, Since: "2.8.13", Summary: "Reports on the events that took long.", Run: latencyDoctor},
			{Name: "latency|graph", Arity: 3, Flags: shown, Tips: everywhere, Since: "2.8.13", Summary: "Draws the durations of an event.", Run: latencyGraph},
			{Name: "latency|help", Arity: 2, Flags: command.Loading | command.Stale, Since: "2.8.13", Summary: "Lists the subcommands.", Run: command.Help},
			{Name: "latency|histogram", Arity: -2, Flags: shown, Tips: everywhere, Since: "7.0.0", Summary: "Returns the distribution of the durations of commands.", Run: latencyHistogram},
			{Name: "latency|history", Arity: 3, Flags: shown, Tips: everywhere, Since: "2.8.13", Summary: "Returns the times and durations of an event.", Run: latencyHistory},
			{Name: "latency|latest", Arity: 2, Flags: shown, Tips: everywhere, Since: "2.8.13", Summary: "Returns the latest and the longest duration of each event.", Run: latencyLatest},
			{Name: "latency|reset", Arity: -2, Flags: shown, Tips: cleared, Since: "2.8.13", Summary: "Drops the durations of events.", Run: latencyReset},
		}},
		{Name: "monitor", Arity: 1, Flags: shown | command.NeedsConnection, Since: "1.0.0", Summary: "Shows the commands of all clients as they run.", Run: monitor},
		{Name: "slowlog", Arity: -2, Since: "2.2.12", Summary: "Groups the commands about slow commands.", Subs: []*command.Command{
			{Name: "slowlog|get", Arity: -2, Flags: command.Admin | command.Loading | command.Stale, Tips: []string{"request_policy:all_nodes", "nondeterministic_output"}, Since: "2.2.12", Summary: "Returns the commands that took long, newest first.", Run: slowlogGet},
			{Name: "slowlog|help", Arity: 2, Flags: command.Loading | command.Stale, Since: "6.2.0", Summary: "Lists the subcommands.", Run: command.Help},
			{Name: "slowlog|len", Arity: 2, Flags: command.Admin | command.Loading | command.Stale, Tips: []string{"request_policy:all_nodes", "response_policy:agg_sum", "nondeterministic_output"}, Since: "2.2.12", Summary: "Returns the number of commands in the slow log.", Run: slowlogLen},
			{Name: "slowlog|reset", Arity: 2, Flags: command.Admin | command.Loading | command.Stale, Tips: cleared, Since: "2.2.12", Summary: "Empties the slow log.", Run: slowlogReset},
		}},
	}
}
