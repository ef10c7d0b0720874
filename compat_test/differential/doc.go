// Package differential compares lockredis with redis-server 7.0.15 while both run.
//
// The tests generate command sequences from a grammar of every command group and send
// each sequence to both servers: plain, through EVAL, through MULTI, in RESP2 and RESP3.
// Every reply, every keyspace event, every invalidation of client-side caching and the final
// state must be equal byte for byte. Some sequences run with an LFU or LRU policy: then the
// accesses of each key must be equal, too. In others SLOWLOG has every command.
// exceptions_test.go, and no other file, lists the allowed differences. One test does the
// same with both servers as clusters of one node. Another one compares a lockredis that emulates
// Valkey with Valkey 9.1.2; valkey_exceptions_test.go lists its further exceptions. It has a quarter
// of the commands of a long run.
//
// The package changes nothing in lockredis. The planted bugs that prove that the tests
// find bugs (build tag plantedbugs) live in a proxy between the tests and the server.
// Without redis-server on the PATH, or without Valkey, the tests skip; with CI=true they fail.
//
// Environment, all optional:
//
//	LOCKREDIS_DIFF_BUDGET=30s        time for the short run (default 10s, without LOCKREDIS_CHECK 5s)
//	LOCKREDIS_DIFF_COMMANDS=1000000  the long run: that many commands, then the coverage must
//	                                 hold (in a million 100 successes and 10 failures of each;
//	                                 else in proportion)
//	LOCKREDIS_DIFF_SEED=17           where to start (every run prints its seed)
//	LOCKREDIS_DIFF_TARGET=redis      a second redis-server, or Valkey, instead of lockredis: proves
//	                                 the exceptions
//	LOCKREDIS_DIFF_TARGET=inprocess  lockredis in the test's process, the default with -race;
//	                                 otherwise the test builds the program and runs it
//	LOCKREDIS_DIFF_TARGET=host:port  a server that already runs with enable-debug-command yes
//	LOCKREDIS_DIFF_SURVEY=1          continue after a difference, print one small sequence per cause
//	LOCKREDIS_DIFF_ONLY=hash,HSET    only these groups and commands
//
// The planted bugs:
//
//	go test -tags plantedbugs -run Planted ./compat_test/differential
//
// The flag -coverage prints how often each command and option succeeded and failed.
package differential
