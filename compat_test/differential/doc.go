// Package differential compares lockredis with redis-server 7.0.15 while both run.
//
// Its tests generate command sequences from a grammar of every command group, send
// each one to both servers (plain, through EVAL, through MULTI, in RESP2 and RESP3)
// and hold every reply, every keyspace event and the state at the end to be equal
// byte for byte. What may differ, and how far, stands in exceptions_test.go and nowhere else.
//
// The package owns no server code and changes nothing of lockredis: the planted bugs
// that prove its sight (build tag plantedbugs) live in a proxy between it and the server.
// Without redis-server on the PATH it skips with one line; with CI=true it fails then.
//
// Environment, all optional:
//
//	LOCKREDIS_DIFF_BUDGET=30s        time for the short run (default 10s)
//	LOCKREDIS_DIFF_COMMANDS=1000000  the long run: that many commands, then the coverage must hold
//	                                 (100 successes and 10 failures of each in a million, in proportion below)
//	LOCKREDIS_DIFF_SEED=17           where to start (printed by every run)
//	LOCKREDIS_DIFF_TARGET=redis      a second redis-server instead of lockredis: proves the exceptions
//	LOCKREDIS_DIFF_TARGET=inprocess  lockredis in the test's process, the rule under -race;
//	                                 otherwise the binary is built and runs beside
//	LOCKREDIS_DIFF_TARGET=host:port  a server that runs already
//	LOCKREDIS_DIFF_SURVEY=1          go on after a difference and print one small sequence per cause
//	LOCKREDIS_DIFF_ONLY=hash,HSET    only these groups and commands
//
// A run tells its seed; with LOCKREDIS_DIFF_SEED it starts there again. The planted bugs:
//
//	go test -tags plantedbugs -run Planted ./compat_test/differential
//
// The flag -coverage prints how often each command and option succeeded and failed.
package differential
