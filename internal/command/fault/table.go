package fault

import "github.com/lockredis/lockredis/internal/command"

// Commands returns the rows of the commands about faults. Redis does not have them, so their Since is
// a version of lockredis.
func Commands() []*command.Command {
	const flags = command.Own | command.Protected | command.Admin | command.NoScript | command.Loading | command.Stale
	const since = "lockredis 0.3.0"
	return []*command.Command{
		{Name: "fault", Arity: -2, Since: since, Summary: "A container for the help about faults.", Subs: []*command.Command{
			{Name: "fault|help", Arity: 2, Flags: flags, Since: since, Summary: "Returns the commands about faults, and the kinds of faults.", Run: faultHelp},
		}},
		{Name: "fault.add", Arity: -2, Flags: flags, Since: since, Summary: "Makes requests, replies or messages go wrong on purpose.", Run: faultAdd},
		{Name: "fault.clear", Arity: 1, Flags: flags, Since: since, Summary: "Ends all faults and lets go what they hold back.", Run: faultClear},
		{Name: "fault.list", Arity: 1, Flags: flags, Since: since, Summary: "Returns the faults, how often they have hit and how much they hold back.", Run: faultList},
		{Name: "fault.release", Arity: -2, Flags: flags, Since: since, Summary: "Lets go what a fault holds back.", Run: faultRelease},
		{Name: "fault.remove", Arity: 2, Flags: flags, Since: since, Summary: "Ends a fault and lets go what it holds back.", Run: faultRemove},
	}
}
