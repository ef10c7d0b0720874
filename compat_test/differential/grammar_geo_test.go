package differential

import "strconv"

// geoCommands has keys of its own beside the sorted sets, whose scores are hardly places.
func geoCommands() []command {
	// Few keys get most of the places, so that searches find some.
	g := oneOf(word([]string{"g0", "g0", "g0", "g1"}), word([]string{"g0", "g0", "g0", "g1"}),
		word([]string{"g0", "g0", "g0", "g1"}), key("g"), key("z"))
	place := func(g *gen) []string {
		name := func(n int) string { return "p" + decimal(n) }
		switch k := g.n(32); {
		case k < 20:
			return []string{name(g.n(40))}
		case k < 30:
			return []string{name(g.n(1000))}
		default:
			return member(g)
		}
	}
	unit := mainly([]string{"km", "m", "mi", "ft", "KM"}, []string{"km"}, []string{"", "cm", "kms"})
	length := mainly([]string{"1000", "100", "300", "5000", "1e4", "20000", "2e5", "500.25", "3000", "1e6", "0"},
		[]string{"inf", "1e300", "-1", "1e-5", "0.001", "40000000"}, wrongFloats)
	around := seq(coordinates, length, unit)
	circle := seq(lit("BYRADIUS"), length, unit)
	box := seq(lit("BYBOX"), length, length, unit)
	center := oneOf(seq(lit("FROMLONLAT"), coordinates), seq(lit("FROMLONLAT"), coordinates),
		seq(lit("FROMMEMBER"), place))
	form := oneOf(circle, box, circle, box, circle, box, seq(circle, box))
	order := opt(40, oneOf(lit("ASC"), lit("DESC")))
	number := mainly([]string{"1", "2", "3", "5", "10"}, []string{"1000"}, []string{"0", "-1", "x", "", "1.5"})
	limit := opt(40, lit("COUNT"), number, opt(40, lit("ANY")))
	with := []part{opt(30, lit("WITHDIST")), opt(20, lit("WITHCOORD")), opt(20, lit("WITHHASH"))}
	show := anyOrder(append([]part{order, limit}, with...)...)
	into := opt(40, oneOf(lit("STORE"), lit("STOREDIST")), into("g3"))
	keep := anyOrder(order, limit, into)
	most := func(usual, rare part) part { return oneOf(usual, usual, usual, usual, rare) }
	return []command{
		{"GEOADD", 14, "NX XX CH", seq(g, opt(15, oneOf(lit("NX"), lit("XX"))), opt(15, lit("CH")),
			many(1, 20, coordinates, place))},
		{"GEOPOS", 2, "", seq(g, many(0, 4, place))},
		{"GEOHASH", 2, "", seq(g, many(0, 4, place))},
		{"GEODIST", 3, "", seq(g, place, place, opt(60, unit))},
		{"GEOSEARCH", 10, "FROMMEMBER FROMLONLAT BYRADIUS BYBOX ASC DESC COUNT ANY WITHDIST WITHCOORD WITHHASH",
			seq(g, most(anyOrder(center, form), oneOf(center, form)), show)},
		{"GEOSEARCHSTORE", 6, "FROMMEMBER FROMLONLAT BYRADIUS BYBOX ASC DESC COUNT ANY STOREDIST",
			seq(into3, g, most(anyOrder(center, form), oneOf(center, form)), anyOrder(order, limit,
				opt(50, lit("STOREDIST"))), opt(8, lit("WITHDIST")))},
		{"GEORADIUS", 6, "ASC DESC COUNT ANY WITHDIST WITHCOORD WITHHASH STORE STOREDIST",
			seq(g, around, most(oneOf(show, keep), seq(show, keep)))},
		{"GEORADIUS_RO", 3, "ASC DESC COUNT ANY WITHDIST WITHCOORD WITHHASH", seq(g, around, show, opt(5, into))},
		{"GEORADIUSBYMEMBER", 6, "ASC DESC COUNT ANY WITHDIST WITHCOORD WITHHASH STORE STOREDIST",
			seq(g, place, length, unit, most(oneOf(show, keep), seq(show, keep)))},
		{"GEORADIUSBYMEMBER_RO", 4, "ASC DESC COUNT ANY WITHDIST WITHCOORD WITHHASH", seq(g, place, length, unit, show)},
	}
}

// into3 is the destination of GEOSEARCHSTORE.
var into3 = into("g3")

// coordinates generates a longitude and a latitude: mostly within a few degrees of a corner of
// the map's cells, often anywhere, and rarely out of range.
func coordinates(g *gen) []string {
	degrees := func(limit int) string {
		return strconv.FormatFloat(float64(g.n(2*limit*1000)-limit*1000)/1000, 'f', -1, 64)
	}
	switch k := g.n(64); {
	case k < 30:
		return []string{degrees(3), degrees(3)}
	case k < 52:
		return []string{degrees(180), degrees(85)}
	case k < 56:
		return []string{g.pick([]string{"180", "-180", "179.9", "-179.9"}), degrees(85)}
	case k < 60:
		return []string{degrees(180), g.pick([]string{"85.05112878", "-85.05112878", "84", "-81", "67", "-66.5"})}
	case k < 62:
		return []string{g.pick(smallFloats), g.pick(smallFloats)}
	default:
		return []string{g.pick(edgeFloats), g.pick(wrongFloats)}
	}
}
