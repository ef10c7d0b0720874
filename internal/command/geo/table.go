package geo

import (
	"github.com/lockredis/lockredis/internal/command"
)

// Commands returns the rows of the geo commands.
func Commands() []*command.Command {
	// stored returns the specs of GEORADIUS's keys; the options begin at position from.
	stored := func(from int) []command.KeySpec {
		store := command.KeySpec{Flags: command.OW | command.Update, Begin: command.Keyword, Keyword: "STORE", From: from, Find: command.Range, Step: 1}
		storeDist := store
		storeDist.Keyword = "STOREDIST"
		return command.Concat(command.Key(command.RO|command.Access, 1), []command.KeySpec{store, storeDist})
	}
	return []*command.Command{
		{Name: "geoadd", Arity: -5, Flags: command.Write | command.DenyOOM, Keys: command.Key(command.RW|command.Update, 1), Since: "3.2.0", Summary: "Adds members with their places, or moves members.", Told: toldGeoadd, Run: geoadd},
		{Name: "geodist", Arity: -4, Flags: command.ReadOnly, Keys: command.Key(command.RO|command.Access, 1), Since: "3.2.0", Summary: "Returns the distance of two members.", Run: geodist},
		{Name: "geohash", Arity: -2, Flags: command.ReadOnly, Keys: command.Key(command.RO|command.Access, 1), Since: "3.2.0", Summary: "Returns the places of members as geohashes.", Run: geohash},
		{Name: "geopos", Arity: -2, Flags: command.ReadOnly, Keys: command.Key(command.RO|command.Access, 1), Since: "3.2.0", Summary: "Returns the longitude and latitude of members.", Run: geopos},
		{Name: "georadius", Arity: -6, Flags: command.Write | command.DenyOOM | command.MovableKeys, Keys: stored(6), Since: "3.2.0", Summary: "Finds the members around a place, and can store them.", Run: georadius},
		{Name: "georadius_ro", Arity: -6, Flags: command.ReadOnly, Keys: command.Key(command.RO|command.Access, 1), Since: "3.2.10", Summary: "Finds the members around a place.", Run: georadiusRO},
		{Name: "georadiusbymember", Arity: -5, Flags: command.Write | command.DenyOOM | command.MovableKeys, Keys: stored(5), Since: "3.2.0", Summary: "Finds the members around a member, and can store them.", Run: georadiusbymember},
		{Name: "georadiusbymember_ro", Arity: -5, Flags: command.ReadOnly, Keys: command.Key(command.RO|command.Access, 1), Since: "3.2.10", Summary: "Finds the members around a member.", Run: georadiusbymemberRO},
		{Name: "geosearch", Arity: -7, Flags: command.ReadOnly, Keys: command.Key(command.RO|command.Access, 1), Since: "6.2.0", Summary: "Finds the members in a circle or a box.", Run: geosearch},
		{Name: "geosearchstore", Arity: -8, Flags: command.Write | command.DenyOOM, Keys: command.Concat(command.Key(command.OW|command.Update, 1), command.Key(command.RO|command.Access, 2)), Since: "6.2.0", Summary: "Stores the members in a circle or a box.", Run: geosearchstore},
	}
}
