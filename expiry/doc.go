// Package expiry keeps deadlines and the clock they are measured by.
//
// Index orders deadlines and hands out those that are due, exactly and without
// sampling; Clock is where time comes from, real or turned by hand. The package
// starts no goroutine and deletes nothing: the store keeps an Index for each
// database, the engine one for parked clients, and the engine alone arms a
// Timer for the earliest deadline of all.
//
// The package is a part of the server. Its API may change with any version, but for
// Clock, which lockredis.Config takes.
package expiry
