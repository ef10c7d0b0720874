// Package hub wakes the waiters of rlock: it subscribes to their channels, over one connection for each
// server, and notices when such a connection breaks. It sends no script, and knows no lock. Package
// rlock has one Hub for each Client.
package hub
