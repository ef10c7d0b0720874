// Package fault makes requests, replies and messages of a server go wrong on purpose.
//
// A Rule is one fault: its kind, and which items it hits. An Injector keeps the rules that are in
// effect. It asks a Rule about each request of a client and about each message for a
// subscriber. Rules count, so that a fault can hit the third EVALSHA. The order of requests
// in the engine decides, so counting is deterministic.
//
// A proxy could not do this as well. In the engine a request, a reply and a message have
// bounds, a client has a name and a script has its source. Sockets, TLS and pipes are alike.
//
// A delayed request survives its connection, as TCP delivers what was sent before the end. The
// commands that the client has sent run later, as a session of their own. Delays are timed by the
// machine's clock: the network that they stand for does not follow a clock that a test moves.
//
//	fault.go     Rule: which items go wrong
//	kind.go      Kind: what goes wrong
//	match.go     Match: the usual conditions of a Rule
//	injector.go  Injector: the rules in effect
//	delay.go     what they delay, how it is released, and requests whose client has left
//	stop.go      a server that hangs
//	request.go   what a Rule sees of a request
//	tap.go       a session's connection while its output goes wrong
//	wired.go     the faults of FAULT.ADD
//
// Package lockredistest sets rules for Go tests, and FAULT.ADD for all others: nothing here needs a
// test. The package never imports the engine: Engine is what it needs of it.
package fault
