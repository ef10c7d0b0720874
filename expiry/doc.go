// Package expiry keeps deadlines, and the clock that they are compared with.
//
// Index orders deadlines and returns every item that is due, exactly and without sampling. So
// no CPU is used while nothing expires. A unit of the engine that sees something due ends it.
// Clock gives the time: System reads the machine's clock, Manual stands still until it is
// advanced. The package starts no goroutine and deletes no key. The store keeps an Index for
// each database, and the engine keeps one for parked clients. The engine arms one Timer, for
// the earliest deadline of all.
//
// The package is a part of the server. Its API may change with any version,
// except Clock, which lockredis.Config takes.
package expiry
