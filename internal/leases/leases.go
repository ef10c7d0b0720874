// Package leases connects a lock client with a test server in the same process.
//
// A test can turn the clock of its server forward. The server's leases then end, but a lock
// client measures its leases with the machine's clock, and would trust them longer. So the
// client joins the server, and the server tells it which leases have ended.
//
// There is no registry: the client finds the server in its own connection options. The test
// kit puts a value into the options of the go-redis client that it makes, as
// redis.Options.Limiter. The lock client asks that value whether it is a Server. In production
// the field has no such value. The package imports nothing, so both sides may import it.
package leases

// Server is a server whose leases may end early by the clocks of its clients.
type Server interface {
	// JoinLeases makes the server tell c about leases that end early. leave ends that and
	// may be called more than once. A call of c.LeaseEnded may still be under way then.
	JoinLeases(c Client) (leave func())
}

// Client is a lock client.
type Client interface {
	// LeaseID returns the first part of the names of the client's owners, "<id>" in
	// "<id>:<thread>". It does not change.
	LeaseID() string
	// LeaseEnded tells the client that a lease has ended on the server. db is the number
	// of the database, name the lock's or the permit semaphore's name. owner is
	// "<id>:<thread>", or a permit's id in hexadecimal digits. Each joined client is told of every lease, its own
	// or not. The call comes from any goroutine and must not block. When it returns, the
	// owner must know: a test continues then.
	LeaseEnded(db int, name, owner string)
}
