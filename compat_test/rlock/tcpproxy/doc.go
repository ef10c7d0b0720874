// Package tcpproxy puts a faulty network between a Redis client and its servers.
//
// A proxy behaves as TCP does. Bytes of one connection keep their order in each
// direction. A byte that is delayed delays all bytes behind it. Different
// connections overtake each other. A request that is delayed still reaches the server
// after its client has closed the connection, as a retransmission does. A reply may be
// lost together with its connection. The client sees the connection's end or a reset, or
// the connection stays silent. A connection may be half open: the proxy accepts it, and
// no byte passes.
//
// A Network belongs to one client. Its Dial is the Dialer of the client's go-redis
// options and opens a proxy in front of each address. So the client of a Sentinel set
// or a Cluster passes proxies too, although the servers announce their own addresses.
//
// Faults come from a rule, which sees each command, or from a Plan: phases with the
// probability of each fault. A Plan has a generator for each connection. So the same
// seed gives the same faults to the same commands of a connection.
package tcpproxy
