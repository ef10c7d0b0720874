package growth

// slowLogs has n entries in the slow log.
func slowLogs() group {
	return group{"a slow log of n entries", 100, 10_000,
		[]string{
			"CONFIG SET slowlog-max-len {n} slowlog-log-slower-than 0", "ECHO {i}",
			"CONFIG SET slowlog-log-slower-than -1",
		},
		[]testCase{
			c("SLOWLOG GET", "SLOWLOG GET"),
			c("SLOWLOG GET: all", "SLOWLOG GET -1"),
			c("SLOWLOG LEN", "SLOWLOG LEN"),
			c("PING: one entry more", "CONFIG SET slowlog-log-slower-than 0", "PING",
				"CONFIG SET slowlog-log-slower-than -1"),
		}}
}

// latencyEvents has commands that were slow. An event has one entry a second, so the number
// of its entries does not grow with n.
func latencyEvents() group {
	return group{"the latency of n slow commands", 1, 10,
		[]string{
			"CONFIG SET latency-monitor-threshold 1",
			"EVAL local~n={i}~for~i=1,1e6~do~n=n+1~end 0",
			"CONFIG SET latency-monitor-threshold 0",
		},
		[]testCase{
			c("LATENCY HISTORY", "LATENCY HISTORY command"),
			c("LATENCY LATEST", "LATENCY LATEST"),
			c("PING: measured", "CONFIG SET latency-monitor-threshold 1000", "PING",
				"CONFIG SET latency-monitor-threshold 0"),
		}}
}

// refusals has an entry in ACL LOG for each of n users.
func refusals() group {
	return group{"an ACL LOG of n entries", 10, thousand,
		[]string{
			"CONFIG SET acllog-max-len {n}", "ACL SETUSER u{i} on nopass allkeys +eval +ping",
			"@{i+1} AUTH u{i} x", "@{i+1} EVAL return~redis.pcall('get','k')~and~1 0",
		},
		[]testCase{
			c("ACL LOG", "ACL LOG"),
			c("ACL LOG: all", "ACL LOG {n}"),
			c("EVAL: refused again", "@{n} EVAL return~redis.pcall('get','k')~and~1 0"),
			c("PING: of one of n users", "@{i+1} PING"),
		}}
}

// trackedKeys has n keys that a client caches.
func trackedKeys() group {
	return group{"n keys that a client caches", thousand, 100_000,
		[]string{"MSET {key:*,v}", "@1 HELLO 3", "@1 CLIENT TRACKING on", "@1 MGET {key:*}"},
		[]testCase{
			c("GET: cached already", "@1 GET key:{i}"),
			c("SET: a cached key", "SET key:{i} v", "@1 GET key:{i}"),
			c("SET: another key", "SET k v"),
			c("CLIENT TRACKINGINFO", "@1 CLIENT TRACKINGINFO"),
		}}
}

// trackedPrefixes has a client that caches all keys below n prefixes.
func trackedPrefixes() group {
	return group{"n prefixes that a client caches", 10, thousand,
		[]string{"@1 HELLO 3", "@1 CLIENT TRACKING on BCAST {PREFIX,p:*:}"},
		[]testCase{
			c("SET: below a prefix", "SET p:{i}:k v"),
			c("SET: below none", "SET k v"),
		}}
}

// monitors has n clients that read all commands.
func monitors() group {
	return group{"n clients in MONITOR", 1, 100, []string{"@{i+1} MONITOR"}, []testCase{
		c("PING: monitored", "PING"),
		c("SET: monitored", "SET k v"),
	}}
}
