// Command perf measures lockredis beside redis-server 7.0, Valkey and miniredis on this
// machine. It prints a table of medians and ratios, and writes it into
// docs/performance.md between two marker comments.
//
//	go run .                    everything; takes about twelve minutes
//	go run . -short             a selection that takes 90 seconds; writes nothing
//	go run . -case 'pair|hand'  only the cases whose name matches; writes nothing
//	go run . -base COMMIT       the working tree beside another commit
//	go run . -replica           a primary with a replica beside one without
//
// It starts all servers itself. Each case lets its servers take turns, in several rounds,
// and each round begins with another server, so that other load on the machine affects
// all of them alike. Load comes from processes of this program in another role (see roles
// in main.go): one thread around epoll that sends prepared bytes and compares the replies
// with prepared bytes, the same for every server. It uses less CPU than redis-benchmark,
// which makes the load of one case as a check. The program runs on Linux only.
//
// A case that fails is reported and makes the exit status 1. A missed goal does not.
package main
