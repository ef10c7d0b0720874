// Command road counts the functions that one request enters, from the read of the socket to the
// write of the reply. It builds lockredis with a counter in each block, runs it without requests
// and with a thousand, and lists the functions that each request has entered:
//
//	make road                  (PING, and the lock script's EVALSHA)
//	go run ./bench/road -list  (with the functions, and how often a request enters them)
//
// A test checks their numbers. Only functions of this module count. A function literal counts on its
// own. A function without a statement has no counter.
package main
