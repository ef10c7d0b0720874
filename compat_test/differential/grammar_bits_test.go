package differential

func bitmapCommands() []command {
	s := key("s")
	offset := mostly([]string{"0", "1", "7", "8", "9", "15", "100", "1023", "3"}, []string{"-1",
		"4294967296", "9223372036854775807", "50000"}, wrongInts)
	bit := mostly([]string{"1", "0"}, []string{"1", "0"}, []string{"2", "-1", "x", "", "01", "1.5"})
	unit := oneOf(lit("BYTE"), lit("BIT"), lit("BYTE"), lit("BIT"), lit("BIT"), lit("WORD"))
	operation := oneOf(lit("AND"), lit("OR"), lit("XOR"), lit("AND"), lit("OR"), lit("XOR"), lit("NAND"))
	return []command{
		{"SETBIT", 6, "", seq(s, offset, bit)},
		{"GETBIT", 2, "", seq(s, offset)},
		{"BITCOUNT", 4, "BYTE BIT", seq(s, opt(70, index, index, opt(60, unit)))},
		{"BITPOS", 5, "BYTE BIT", seq(s, bit, opt(70, index, opt(70, index, opt(60, unit))))},
		{"BITOP", 4, "AND OR XOR NOT", oneOf(seq(operation, into("s3"), many(1, 4, s)),
			seq(operation, into("s3"), many(1, 4, s)), seq(lit("NOT"), into("s3"), many(1, 2, s)),
			seq(lit("NOT"), into("s3"), s))},
		{"BITFIELD", 8, "GET SET INCRBY OVERFLOW", seq(s, many(0, 5, fieldCommand(true)))},
		{"BITFIELD_RO", 3, "GET", seq(s, many(0, 3, fieldCommand(false)))},
	}
}

// fieldCommand generates a subcommand of BITFIELD.
func fieldCommand(writes bool) part {
	width := mainly([]string{"u8", "i8", "u4", "i5", "u1", "i1", "i16", "u13", "i33", "u63", "i64", "i63"},
		[]string{"u64", "i65", "u0", "i2"}, []string{"", "u", "8", "U8", "u08", "i-1", "u8x", "x8"})
	offset := mainly([]string{"0", "1", "5", "8", "13", "#0", "#1", "#2", "#3", "64", "100"},
		[]string{"-1", "#-1", "4294967296", "#4294967296", "#1152921504606846976", "#2305843009213693952"},
		[]string{"", "#", "x", "#x", "1.5", "##1"})
	number := mainly([]string{"1", "-1", "100", "-100", "127", "128", "-128", "-129", "255", "256", "0",
		"1000", "16", "-16", edgeInts[0], edgeInts[1]}, edgeInts, wrongInts)
	get := seq(lit("GET"), width, offset)
	if !writes {
		return oneOf(get, get, get, get, get, get, get, seq(lit("OVERFLOW"), lit("SAT")),
			seq(lit("SET"), width, offset, number))
	}
	policy := oneOf(lit("WRAP"), lit("SAT"), lit("FAIL"), lit("WRAP"), lit("SAT"), lit("FAIL"), lit("NONE"))
	set := seq(lit("SET"), width, offset, number)
	incr := seq(lit("INCRBY"), width, offset, number)
	return oneOf(get, set, incr, seq(lit("OVERFLOW"), policy), set, incr, seq(lit("OVERFLOW"), policy))
}

// mainly is mostly with fewer exceptions, for commands of many arguments.
func mainly(common, edge, wrong []string) part {
	usual := word(common)
	return oneOf(usual, usual, usual, usual, usual, mostly(common, edge, wrong))
}

// hllCommands has keys of its own: few strings are a HyperLogLog.
func hllCommands() []command {
	p := oneOf(key("p"), word([]string{"p0", "p1"}))
	element := oneOf(member, func(g *gen) []string { return []string{"e" + decimal(g.n(4096))} })
	debug := func(sub string) command {
		return command{"PFDEBUG " + sub, 1, "", p}
	}
	return []command{
		{"PFADD", 12, "", seq(p, many(0, 12, element))},
		{"PFCOUNT", 6, "", many(1, 3, p)},
		{"PFMERGE", 5, "", seq(p, many(0, 3, p))},
		debug("GETREG"), debug("DECODE"), debug("ENCODING"), debug("TODENSE"), debug("NOSUCH"),
	}
}
