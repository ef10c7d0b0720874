package command

// geoCommands returns the rows of the geo commands.
func geoCommands() []*Command {
	// stored returns the specs of GEORADIUS's keys; the options begin at position from.
	stored := func(from int) []KeySpec {
		store := KeySpec{Flags: OW | Update, Begin: Keyword, Keyword: "STORE", From: from, Find: Range, Step: 1}
		storeDist := store
		storeDist.Keyword = "STOREDIST"
		return concat(key(RO|Access, 1), []KeySpec{store, storeDist})
	}
	return []*Command{
		{Name: "geoadd", Arity: -5, Flags: Write | DenyOOM, Keys: key(RW|Update, 1), Since: "3.2.0", Summary: "Adds members with their places, or moves members.", Told: toldGeoadd, Run: geoadd},
		{Name: "geodist", Arity: -4, Flags: ReadOnly, Keys: key(RO|Access, 1), Since: "3.2.0", Summary: "Returns the distance of two members.", Run: geodist},
		{Name: "geohash", Arity: -2, Flags: ReadOnly, Keys: key(RO|Access, 1), Since: "3.2.0", Summary: "Returns the places of members as geohashes.", Run: geohash},
		{Name: "geopos", Arity: -2, Flags: ReadOnly, Keys: key(RO|Access, 1), Since: "3.2.0", Summary: "Returns the longitude and latitude of members.", Run: geopos},
		{Name: "georadius", Arity: -6, Flags: Write | DenyOOM | MovableKeys, Keys: stored(6), Since: "3.2.0", Summary: "Finds the members around a place, and can store them.", Run: georadius},
		{Name: "georadius_ro", Arity: -6, Flags: ReadOnly, Keys: key(RO|Access, 1), Since: "3.2.10", Summary: "Finds the members around a place.", Run: georadiusRO},
		{Name: "georadiusbymember", Arity: -5, Flags: Write | DenyOOM | MovableKeys, Keys: stored(5), Since: "3.2.0", Summary: "Finds the members around a member, and can store them.", Run: georadiusbymember},
		{Name: "georadiusbymember_ro", Arity: -5, Flags: ReadOnly, Keys: key(RO|Access, 1), Since: "3.2.10", Summary: "Finds the members around a member.", Run: georadiusbymemberRO},
		{Name: "geosearch", Arity: -7, Flags: ReadOnly, Keys: key(RO|Access, 1), Since: "6.2.0", Summary: "Finds the members in a circle or a box.", Run: geosearch},
		{Name: "geosearchstore", Arity: -8, Flags: Write | DenyOOM, Keys: concat(key(OW|Update, 1), key(RO|Access, 2)), Since: "6.2.0", Summary: "Stores the members in a circle or a box.", Run: geosearchstore},
	}
}
