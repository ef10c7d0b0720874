// Command perf measures lockredis beside redis-server 7.0, Valkey and miniredis
// on this machine, prints a table of medians and ratios, and writes it into
// docs/performance.md between two marker comments.
//
//	go run .                    everything; takes about twelve minutes
//	go run . -short             what fits in 90 seconds; writes nothing
//	go run . -case 'pair|hand'  only the cases whose name matches; writes nothing
//	go run . -base COMMIT       two commits of lockredis against each other
//
// It starts all servers itself. Each case takes its servers in turn, several
// times over, and each time begins with another one, so that what else happens on
// the machine meets all of them alike. Load comes from processes of this program in
// another role (see roles in main.go): one thread around epoll that sends prepared
// bytes and compares the replies with prepared bytes, the same for every server.
// It burns less than redis-benchmark, which makes the load of one case as a check.
// So it runs on Linux only.
//
// A case that fails is reported and makes the exit status 1; a goal that is
// missed does not.
package main
