package growth

// streams has entries of ids 1-1, 2-1 and so on.
func streams() group {
	return group{"a stream of n entries", thousand, million,
		[]string{"XADD x {i+1}-1 f v{i} g w"}, append([]testCase{
			c("XADD", "XADD x 9{new}-1 f v g w", "XDEL x 9{new}-1").with("xdel"),
			c("XLEN", "XLEN x"),
			c("XRANGE: start", "XRANGE x - + COUNT 10"),
			c("XRANGE: middle", "XRANGE x {mid} + COUNT 10"),
			c("XREVRANGE: end", "XREVRANGE x + - COUNT 10"),
			c("XREVRANGE: middle", "XREVRANGE x {mid} - COUNT 10"),
			c("XREAD: middle", "XREAD COUNT 10 STREAMS x {mid}"),
			c("XDEL: nothing", "XDEL x {mid}-7"),
			c("XINFO STREAM", "XINFO STREAM x"),
			c("XSETID", "XSETID x {n+1}-1"),
			c("XTRIM: nothing", "XTRIM x MAXLEN {n}"),
		}, whole("x")...)}
}

// pendingEntries has a group with a consumer to which all n entries were delivered.
func pendingEntries() group {
	return group{"a group with n pending entries", thousand, million,
		[]string{
			"XGROUP CREATE x g 0 MKSTREAM", "XADD x {i+1}-1 f v",
			"XREADGROUP GROUP g c COUNT {n} STREAMS x >",
		},
		[]testCase{
			c("XACK", "XACK x g {i+1}-1", "XCLAIM x g c 0 {i+1}-1 FORCE JUSTID").with("xclaim"),
			c("XAUTOCLAIM: middle", "XAUTOCLAIM x g c 0 {mid} COUNT 10 JUSTID"),
			c("XPENDING: summary", "XPENDING x g"),
			c("XPENDING: middle", "XPENDING x g {mid} + 10"),
			c("XREADGROUP: pending", "XREADGROUP GROUP g c COUNT 10 STREAMS x {mid}"),
			c("XREADGROUP: new", "XADD x 9{new}-1 f v", "XREADGROUP GROUP g c STREAMS x >",
				"XACK x g 9{new}-1", "XDEL x 9{new}-1"),
			c("XGROUP CREATE", "XGROUP CREATE x h 0", "XGROUP DESTROY x h").with("xgroup|destroy"),
			c("XGROUP CREATECONSUMER", "XGROUP CREATECONSUMER x g d",
				"XGROUP DELCONSUMER x g d").with("xgroup|delconsumer"),
			c("XGROUP SETID", "XGROUP SETID x g $"),
			c("XINFO GROUPS", "XINFO GROUPS x"),
			c("XINFO CONSUMERS", "XINFO CONSUMERS x g"),
		}}
}
