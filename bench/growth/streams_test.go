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
		}, whole("x")...)}
}
