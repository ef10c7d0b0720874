// Package cluster compares a cluster of lockredis with one of redis-server: what the nodes say about
// each other, redirections, a slot that moves, and a node that has ended.
//
// A file of testdata is a play. Its replies are recorded from three redis-servers, or from six if its name
// begins with "replicas": node 4 is a replica of node 1, 5 of 2 and 6 of 3.
//
//	go test ./compat_test/cluster -rewrite   # needs redis-server 7.0.15
//
// A line of a play is for the node of that number, and for a connection of its own if it has a name:
//
//	1> GET a            send a command and read its reply
//	1.name! BLPOP l 0   send it and read nothing
//	1.name< 2           read two replies or messages
//	1? GET a = b        send the command until its reply contains the text behind " = "
//	3 ends              the node's process ends; its ports stay closed
//	3 returns           the process runs again, without data
//
// In a command, $1 is the id of node 1 and @1 its port. In replies, ids, ports and times of the nodes
// are written so, too, and lists of nodes are sorted.
//
// stories_test.go has the commands of users' reports of CROSSSLOT. They go to a single server, to a proxy
// and to a cluster.
package cluster
