// Package simulation runs lock clients by the hundred against the engine, without
// sockets, goroutines or real time, and looks after every step at what must always
// hold. The package has tests only.
//
// # What runs
//
// A world is an engine on a clock that stands still, and model clients of every
// kind of lock, several for each lock, which contend for it all the time. They send
// rlock's own scripts, read from its source, and what Redisson sends beside:
// SUBSCRIBE, PUBLISH, PTTL, HGET, DEL of latches, SCRIPT LOAD.
//
// A step is a client's next doing, or something that happens to the world: time
// passes, a little, far, or right up to the next deadline, a millisecond before it or
// beyond; the server's timer runs; its clock is set back; a connection is killed;
// messages are lost; the scripts are forgotten; expiry is lazy for a while.
// Clients crash, pause until after their lease, renew late, unlock what they do
// not hold, and unlock by force. Requests and replies are lost or late, so that
// clients send again: a copy that is late arrives before its client sends
// anything else, or, when that has crashed, at any time.
//
// A seed decides what the world is like, and each step brings its own chances
// along, which mean something in any state. So a course is a list of steps that
// can be repeated, and shortened when it fails.
//
// # What must hold
//
// The replies tell who holds what and until when (lock_test.go); that is compared
//
//   - with what is stored, after every command: owners, counts, deadlines, a fair
//     lock's queue in its order;
//   - with the replies themselves: nobody is granted what another holds, nobody is
//     refused what is free, and a wait is told to the millisecond;
//   - with what the clients believe, who count their leases from when they asked:
//     of two that exclude each other never both trust theirs, and who trusts is
//     the owner as stored;
//   - with those who sleep: whoever could have the lock after a command has been
//     sent a message, and after time has passed nobody sleeps beside a lock whose lease is
//     over.
//
// The deadlines of all keys are remembered: a key past its own is invisible to
// any command, expired and told of, once and not early. Every thousand steps
// everything is looked at, and the indexes of store, expiry, pubsub and engine
// against each other (their Check).
//
// planted_test.go breaks scripts and engine on purpose, and expects to hear of it.
//
// # What is allowed
//
// A lock's holder may be told of its loss late when somebody unlocks by force. A
// read-write lock whose longest lease is given up early ends sooner than those
// who wait were told, as in Redisson, and nobody tells them: they sleep as long as
// they were told. So may one in a fair lock's queue behind another that does not
// come.
//
// # How to run it
//
// Plain go test takes 100,000 steps, LOCKREDIS_SIMULATION=n that many, from
// LOCKREDIS_SIMULATION_SEED on. A failure prints how to see it again.
package simulation
