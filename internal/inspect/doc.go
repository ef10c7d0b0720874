// Package inspect tells who holds which lock, who waits, and what the next deadline is. It
// reads the server's data as a lock client wrote it, and never changes a key.
//
// There are two ways in. [Inspector] is for callers outside the engine, such as lockredistest:
// each of its methods enters the engine and is one unit there, so nothing changes while it
// looks. [View] is for callers that are inside the engine already, such as the handlers of
// LOCK.LIST and LOCK.LEAKS. An Inspector's method called inside the engine would wait for
// itself; a View used outside would race.
//
// The engine implements [Engine]. The package imports neither the engine nor the command
// table, so both may import it. All results are copies: they stay valid and point nowhere.
//
// A lock is a hash that a script wrote and whose fields are all owners in Redisson's form,
// <uuid>:<thread> or <uuid>:<thread>:write, with a hold count each. A read-write lock has
// the field mode besides. The owners in a fair lock's queue stand in keys of their own, see
// package lockkeys. A hash that a plain HSET wrote is data, whatever it looks like. An id that
// is no UUID is a lock client's if Inspector.Know was told so, or if a script that wrote the
// hash also named another key of the same lock.
//
// A lock is also a string with a time to live that SET with NX created and that still holds the
// same random token. Permits are the members of a sorted set that a script wrote, if the
// script also named the semaphore's counter and its channel.
package inspect
