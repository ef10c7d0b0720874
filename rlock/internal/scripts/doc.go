// Package scripts holds rlock's Lua scripts, one file each in the folder lua.
//
// Every request may be sent any number of times, and a copy may arrive at any later
// time: after its retry was answered, after the lock was released, after the waiter
// left. A script makes such a copy harmless with a key of the request, its latch:
//
//	redisson_unlock_latch:{name}:<32 hex digits>
//
// A claim is one acquisition. Its latch does not exist while the claim may be granted.
// The release script writes the latch, and so ends the claim. The same script undoes a
// claim whose outcome is unknown and leaves a queue. An acquire script that finds the
// latch replies -4 and changes nothing: it neither grants nor queues. While the claim is
// held, its latch may have the places of the last changes of its lease, or "sealed".
//
// The latch of any other request keeps the reply of its first run. Later runs reply the
// same and change nothing. The release of a claim keeps its reply so too.
//
// A latch has a time to live, the argument life. It must be longer than a copy can be
// on its way. A request that was answered at its first send has no copies, so the
// client may delete its latch. An acquisition that was sent more than once can be
// sealed instead: acquire scripts then refuse it, a release still works.
//
// A release of every kind works at maxmemory with noeviction. The server then refuses
// commands that may need memory, but only as the first write of a script.
//
// # Files
//
// A file begins with comments. The first says in one sentence what the script does. A
// line "-- KEYS:" and a line "-- ARGV:" name the keys and arguments in their order. A
// last name with "..." stands for any number of them. The last names may be in
// brackets: a call has all of these arguments, or none of them. Lines "-- replies:" list the
// replies. The first lines of code bind the names. A line "-- include: name" stands for
// the file fragments/name.lua.
package scripts
