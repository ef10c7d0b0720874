package acl

import (
	"github.com/lockredis/lockredis/internal/command"
)

// Commands returns the rows of the commands for users and their rights.
func Commands() []*command.Command {
	return []*command.Command{
		{Name: "acl", Arity: -2, Since: "6.0.0", Summary: "Groups the commands about users and their rights.", Subs: []*command.Command{
			{Name: "acl|cat", Arity: -2, Flags: command.NoScript | command.Loading | command.Stale, Since: "6.0.0", Summary: "Lists the categories of commands, or the commands of a category.", Run: aclCat},
			{Name: "acl|deluser", Arity: -3, Flags: command.Admin | command.NoScript | command.Loading | command.Stale, Since: "6.0.0", Summary: "Removes users and closes their connections.", Run: aclDeluser},
			{Name: "acl|dryrun", Arity: -4, Flags: command.Admin | command.NoScript | command.Loading | command.Stale, Since: "7.0.0", Summary: "Tells whether a user may run a command, without running it.", Run: aclDryrun},
			{Name: "acl|genpass", Arity: -2, Flags: command.NoScript | command.Loading | command.Stale, Since: "6.0.0", Summary: "Returns a random password.", Run: aclGenpass},
			{Name: "acl|getuser", Arity: 3, Flags: command.Admin | command.NoScript | command.Loading | command.Stale, Since: "6.0.0", Summary: "Returns the flags, password hashes and rules of a user.", Run: aclGetuser},
			{Name: "acl|help", Arity: 2, Flags: command.Loading | command.Stale, Since: "6.0.0", Summary: "Lists the subcommands.", Run: command.Help},
			{Name: "acl|list", Arity: 2, Flags: command.Admin | command.NoScript | command.Loading | command.Stale, Since: "6.0.0", Summary: "Describes all users by lines of an ACL file.", Run: aclList},
			{Name: "acl|load", Arity: 2, Flags: command.Admin | command.NoScript | command.Loading | command.Stale, Since: "6.0.0", Summary: "Replaces all users by those of the ACL file.", Run: aclLoad},
			{Name: "acl|log", Arity: -2, Flags: command.Admin | command.NoScript | command.Loading | command.Stale, Since: "6.0.0", Summary: "Lists refused commands and failed logins, or forgets them.", Run: aclLog},
			{Name: "acl|save", Arity: 2, Flags: command.Admin | command.NoScript | command.Loading | command.Stale, Since: "6.0.0", Summary: "Writes all users into the ACL file.", Run: aclSave},
			{Name: "acl|setuser", Arity: -3, Flags: command.Admin | command.NoScript | command.Loading | command.Stale, Since: "6.0.0", Summary: "Makes a user, or changes a user's rules.", Run: aclSetuser},
			{Name: "acl|users", Arity: 2, Flags: command.Admin | command.NoScript | command.Loading | command.Stale, Since: "6.0.0", Summary: "Lists the names of all users.", Run: aclUsers},
			{Name: "acl|whoami", Arity: 2, Flags: command.NoScript | command.Loading | command.Stale | command.NeedsConnection, Since: "6.0.0", Summary: "Returns the name of the connection's user.", Run: aclWhoami},
		}},
	}
}
